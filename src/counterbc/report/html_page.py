"""The page as one file, without scripts and without external resources."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import asdict
from datetime import datetime
from importlib.resources import files

from counterbc.acting.member import radius_text
from counterbc.data.version import __version__
from counterbc.report import html_goals, html_scores, words
from counterbc.report import html_sections as sections
from counterbc.report.advice import Inputs, advice
from counterbc.report.findings import Findings
from counterbc.report.markup import Markup, join, tag


def page(findings: Findings, inputs: Inputs, date: datetime, hashes: dict[str, str]) -> str:
    """Return the HTML; `hashes` are the SHA-256 of the files, by name."""
    name = " + ".join(path.name for path in inputs.paths)
    parts = (
        tag("header",
            tag("p", "What demonstrators meant", class_="kicker"),
            tag("h1", name),
            tag("p", " ".join(words.headline(findings)), class_="lead"),
            sections.tiles(findings)),
        sections.explained(findings),
        sections.next_steps(advice(findings, inputs)),
        sections.data(findings),
        sections.radius(findings),
        html_scores.operators(findings),
        html_scores.ranking(findings),
        html_scores.pictures(findings),
        html_goals.modes(findings),
        _footer(findings, date, hashes),
    )  # fmt: skip
    style = files("counterbc.report").joinpath("page.css").read_text(encoding="utf-8")
    head = tag("head", *_meta(style), tag("title", f"{name}: what was meant"),
               tag("style", Markup(style)))  # fmt: skip
    whole = tag("html", head, tag("body", tag("main", join(parts, "\n"))), lang="en")
    return f"<!doctype html>\n{whole}\n"


def _meta(style: str) -> list[Markup]:
    """Return the meta elements, with a policy that lets the browser load and run nothing."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
    ]


def _footer(findings: Findings, date: datetime, hashes: dict[str, str]) -> Markup:
    scores, held_out = findings.meaning, findings.options.held_out
    options = [f"{name} {value}" for name, value in asdict(held_out).items()]
    options.append(f"kernel {findings.options.kernel}")
    if scores is not None:
        options.insert(0, f"Δ {radius_text(scores.radius)} ({scores.shape})")
    facts = [
        ("Made", f"{date:%Y-%m-%d %H:%M} {date.tzname() or ''}".strip()
                 + f" by counterbc {__version__}"),
        ("Options", ", ".join(options)),
        ("Fingerprint", findings.demos.fingerprint()),
        *((f"SHA-256 of {name}", digest) for name, digest in hashes.items()),
    ]  # fmt: skip
    return tag(
        "footer",
        tag("h2", "How this was made, and what it cannot tell"),
        *(tag("p", text) for text in _LIMITS),
        tag("p", _BLOCKS) if len(findings.demos) < held_out.folds else None,
        tag("dl", *(tag("div", tag("dt", k), tag("dd", v)) for k, v in facts), class_="facts"),
    )


_BLOCKS = (
    "There are fewer episodes than folds, so blocks of neighbouring pairs were held out instead, "
    "with a gap around them. A held-out policy may have seen other parts of the same episode."
)
_LIMITS = (
    "Units. Distances, Δ and bias are in units in which each action dimension spans [−1, 1]: by "
    "its declared bounds, or by the 1–99 % range of the data if none are declared. Axes of "
    "actions are in the units of the file.",
    "Meant actions. The episodes are split into folds, by operator if there are three or more. "
    "Counter-BC policies are trained on the other folds and predict the actions of each fold, so "
    "no pair is predicted by a policy that saw its episode. The predicted action is their mean. "
    "The meant action lies between the demonstrated and the predicted one, nearer to the "
    "prediction the more the held-out policies agree, within Δ of the demonstrated action and "
    "within the bounds. The distance of an episode is the root mean square of demonstrated minus "
    "predicted over its pairs, without the typical error of the policies. The distance of an "
    "operator adds the constant part of the error, where it is clear, to the part that changes "
    "at each step.",
    "Intervals are 90 % intervals: of an episode over its pairs, of an operator over episodes.",
    "Limits. A rare but correct way of doing the task has a large distance. Errors that all "
    "demonstrators share are taken as meant. Held-out policies that were trained on many bad "
    "episodes predict less well.",
)
