"""The page as one file: no scripts, nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import asdict
from datetime import datetime
from importlib.resources import files

from counterbc.acting.policies import radius_text
from counterbc.data.version import __version__
from counterbc.report import goals, judgements, words
from counterbc.report import html_sections as sections
from counterbc.report.advice import Given, advice
from counterbc.report.findings import Findings
from counterbc.report.markup import Markup, join, tag


def page(found: Findings, given: Given, when: datetime, hashes: dict[str, str]) -> str:
    """The HTML; `hashes` are those of the files, by name."""
    name = " + ".join(path.name for path in given.paths)
    parts = (
        tag("header",
            tag("p", "What demonstrators meant", class_="kicker"),
            tag("h1", name),
            tag("p", " ".join(words.headline(found)), class_="lead"),
            sections.tiles(found)),
        sections.next_steps(advice(found, given)),
        sections.data(found),
        sections.radius(found),
        judgements.operators(found),
        judgements.ranking(found),
        judgements.pictures(found),
        goals.modes(found),
        _footer(found, when, hashes),
    )  # fmt: skip
    style = files("counterbc.report").joinpath("page.css").read_text(encoding="utf-8")
    head = tag("head", *_meta(style), tag("title", f"{name}: what was meant"),
               tag("style", Markup(style)))  # fmt: skip
    whole = tag("html", head, tag("body", tag("main", join(parts, "\n"))), lang="en")
    return f"<!doctype html>\n{whole}\n"


def _meta(style: str) -> list[Markup]:
    """With a policy that lets the browser load nothing and run nothing, whatever names say."""
    known = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{known}'; base-uri 'none'; form-action 'none'"
    return [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
    ]


def _footer(found: Findings, when: datetime, hashes: dict[str, str]) -> Markup:
    judged, options = found.meaning, found.options
    told = [f"{name} {value}" for name, value in asdict(options.judges).items()]
    if judged is not None:
        told.insert(0, f"Δ {radius_text(judged.radius)} ({judged.shape})")
    facts = [
        ("Made", f"{when:%Y-%m-%d %H:%M} {when.tzname() or ''}".strip()
                 + f" by counterbc {__version__}"),
        ("ReportOptions", ", ".join(told)),
        ("Fingerprint", found.demos.fingerprint()),
        *((f"SHA-256 of {name}", digest) for name, digest in hashes.items()),
    ]  # fmt: skip
    return tag(
        "footer",
        tag("h2", "How this was made, and what it cannot tell"),
        *(tag("p", text) for text in _LIMITS),
        tag("p", _BLOCKS) if len(found.demos) < options.judges.folds else None,
        tag("dl", *(tag("div", tag("dt", k), tag("dd", v)) for k, v in facts), class_="facts"),
    )


_BLOCKS = (
    "Here are fewer episodes than folds: blocks of neighbouring pairs were held out instead, with "
    "a gap around them, and a judge may have seen other parts of the same episode."
)
_LIMITS = (
    "Units. Distances, Δ and bias are in units in which each action dimension spans [−1, 1]: by "
    "its declared bounds, or where none are declared by the 1–99 % range of the data. Axes of "
    "actions are in the units of the file.",
    "Meant. The episodes are dealt to folds, whole people where there are three or more; "
    "Counter-BC policies that learn from the others judge each, so no pair is judged by a policy "
    "that saw its episode. Their mean action is what they believe; meant is that action as far as "
    "judges of different dealings agree, brought within Δ of what was shown and into the bounds. "
    "The distance of an episode is the root mean square of shown − believed over its pairs, less "
    "the judges' own error as most episodes have it; that of an operator adds to the part that is "
    "new at each step the lasting part where it is clear.",
    "Intervals are of 90 %: of an episode over its pairs, of an operator over episodes.",
    "Limits. A rare but right way of doing the task looks far off. Errors that all demonstrators "
    "share are taken for meant. HeldOut who learned from many bad episodes judge less well.",
)  # fmt: skip
