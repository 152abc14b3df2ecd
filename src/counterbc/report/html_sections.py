"""What is in the data, the radius, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from counterbc.acting.policies import radius_text
from counterbc.data.inspection_report import Dimension, Problem
from counterbc.data.names import shorten
from counterbc.report import figures, words
from counterbc.report.advice import Step
from counterbc.report.drawing import legend
from counterbc.report.findings import Findings
from counterbc.report.html_helpers import digits, missing, section
from counterbc.report.markup import Markup, table, tag

_PLACES = 3  # places of a problem


def tiles(found: Findings) -> Markup:
    """The numbers that are asked for first."""
    far = len(found.outstanding)
    said: list[tuple[str, str]] = [
        (f"{len(found.demos):,}", "episodes"),
        (str(len(found.demos.operators) or "–"), "operators"),
        ("–" if found.radius is None else radius_text(found.radius), "radius Δ"),
        ("–" if found.distance is None else f"{found.distance:.2f}", "shown to believed"),
        ("–" if found.fence is None else str(far),
         "episode stands out" if far == 1 else "episodes stand out"),
        ("–" if found.intents is None else str(found.intents.groups),
         "goal" if found.intents is not None and found.intents.groups == 1 else "goals"),
    ]  # fmt: skip
    each = [tag("div", tag("dt", name), tag("dd", value)) for value, name in said]
    return tag("dl", *each, class_="tiles")


def next_steps(steps: Sequence[Step]) -> Markup:
    each = []
    for step in steps:
        lines = tag("pre", tag("code", "\n".join(step.commands)), tabindex=0)
        each.append(
            tag("li", tag("h3", step.title), tag("p", step.why), lines if step.commands else None)
        )
    if not each:
        each = [tag("li", tag("p", "Nothing: see below why the data could not be judged."))]
    return section("What to do next", tag("ol", *each, class_="steps"))


def data(found: Findings) -> Markup:
    report, demos = found.inspection, found.demos
    lengths = figures.lengths_figure(demos)
    facts = [
        ("Files", "; ".join(f"{Path(s).name} ({len(n):,} episodes)" for s, n in found.parts)),
        ("Lengths", words.lengths(found)),
        ("Rate", f"{report.rate:g} Hz" if report.rate else "not recorded"),
        ("Observations", f"{'×'.join(map(str, demos.obs_shape))}: "
                         + (shorten([f"{k} ({n})" for k, n in demos.obs_keys]) or "images")),
        ("Actions", f"{demos.action_size}: {shorten(demos.action_names)}"),
        ("Bounds", demos.bounds),
        ("Success", None if (n := report.successes) is None else words.some(n, "episode")),
        ("Return", None if (mean := report.mean_return) is None else f"{mean:.2f} on average"),
        ("World", report.env),
    ]  # fmt: skip
    listed = [tag("div", tag("dt", k), tag("dd", v)) for k, v in facts if v is not None]
    return section(
        "What is in the data",
        tag("div", tag("dl", *listed, class_="facts"),
            None if lengths is None else tag("figure", lengths), class_="beside"),
        tag("h3", "Problems"), _problems(report.problems),
        tag("h3", "Ranges"), _ranges(report.dimensions),
    )  # fmt: skip


def _problems(problems: Sequence[Problem]) -> Markup:
    if not problems:
        return tag("p", "None of those that are looked for: values that are not finite, shapes, "
                   "duplicates, short or idle stretches, bounds, constant dimensions.")  # fmt: skip
    each = []
    for problem in problems:
        places = [_place(place) for place in problem.places[:_PLACES]]
        if len(problem.places) > _PLACES:
            places.append("…")
        inside = tag("ul", *(tag("li", p) for p in places)) if places else None
        each.append(tag("li", tag("strong", problem.kind), f": {problem.text}.", inside))
    return tag("ul", *each, class_="problems")


def _place(place: Mapping[str, Any]) -> str:
    """Where a problem is, in words; what is not so goes without saying."""
    said = {k.replace("_", " "): v for k, v in place.items() if v is not False}
    return ", ".join(k if v is True else f"{k} {v}" for k, v in said.items())


def _ranges(dimensions: Sequence[Dimension]) -> Markup:
    rows = [
        (f"{d.kind} {d.name}", *(digits(x) for x in (d.min, d.mean, d.max, d.std)))
        for d in sorted(dimensions, key=lambda d: d.kind)  # actions first
    ]
    return table(("dimension", "least", "mean", "most", "std"), rows, "Range of each dimension")


def radius(found: Findings) -> Markup:
    choice = found.choice
    if choice is None:
        return section("The radius and why", missing(found, "radius"))
    doubts = [tag("li", f"{d[:1].upper()}{d[1:]}.") for d in choice.warnings]
    figure = tag(
        "figure", figures.radius_figure(choice),
        legend([("curve", "mean over folds ± 1 standard error"), ("plateau", "as good as the best"),
                ("chosen", "chosen")]),
    )  # fmt: skip
    text = tag(
        "div",
        tag("p", choice.explanation),
        tag("p", "Each Δ was tried on pairs that its policies did not learn from. Where errors "
            "have mean zero, the Δ that best predicts what was shown there also best predicts what "
            "was meant, which nobody recorded."),
        tag("ul", *doubts, class_="doubts") if doubts else None,
        _per_dimension(found),
    )  # fmt: skip
    return section("The radius and why", tag("div", text, figure, class_="beside"))


def _per_dimension(found: Findings) -> Markup | None:
    choice = found.choice
    if choice is None or len(choice.per_dimension) < 2:
        return None
    each = [f"{n} {r:g}" for n, r in zip(choice.action_names, choice.per_dimension, strict=True)]
    return tag("p", f"Alone, each dimension would choose: {shorten(each, 8)}.", class_="small")
