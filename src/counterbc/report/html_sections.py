"""Sections of the page: what to do next, what is in the data, and the radius."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from counterbc.acting.member import radius_text
from counterbc.data.inspection_report import Dimension, Place, Problem
from counterbc.data.names import cameras_text, shape_text, shorten
from counterbc.report import figures, words
from counterbc.report.advice import Step
from counterbc.report.drawing import legend
from counterbc.report.findings import Findings
from counterbc.report.html_helpers import absent, digits, section
from counterbc.report.markup import Markup, table, tag
from counterbc.selection.radius_choice import RadiusChoice
from counterbc.selection.radius_figure import percent_above

_PLACES = 3  # places of a problem
_WHY_HELD_OUT = (
    "Each Δ was tested on pairs that its policies were not trained on. If errors have mean zero, "
    "the Δ that best predicts the demonstrated actions also best predicts the intended ones, which "
    "nobody recorded."
)


def tiles(findings: Findings) -> Markup:
    """Return the most important numbers."""
    outliers = len(findings.outliers)
    numbers: list[tuple[str, str]] = [
        _share(findings),
        (f"{len(findings.demos):,}", "episodes"),
        (str(len(findings.demos.operators) or "–"), "operators"),
        (radius_text(findings.radius or ()) if findings.recommends_radius else "–", "radius Δ"),
        ("–" if findings.distance is None else f"{findings.distance:.2f}",
         "RMS difference to held-out policies"),
        ("–" if findings.meaning is None or findings.why_no_outliers else str(outliers),
         "episode stands out" if outliers == 1 else "episodes stand out"),
        ("–" if findings.intents is None or findings.intents.verdict == "too few episodes" else
         str(findings.intents.groups),
         "goal" if findings.intents is not None and findings.intents.groups == 1 else "goals"),
    ]  # fmt: skip
    tiles = [tag("div", tag("dt", name), tag("dd", value)) for value, name in numbers]
    return tag("dl", *tiles, class_="tiles")


def _share(findings: Findings) -> tuple[str, str]:
    """Return the tile of the share that is explained, with its interval."""
    label = "of the actions' variance explained"
    if findings.explained is None:
        return "–", label
    share = findings.explained.counted
    if findings.explained.counts_beyond:
        label = "of what the last two actions leave explained"
    if np.isnan(share.value):
        return "–", label
    value, low, high = share.percents
    return f"{value} %", f"{label} ({low} to {high} %)"


def next_steps(steps: Sequence[Step]) -> Markup:
    """Return the section with commands to paste."""
    items = []
    for step in steps:
        lines = tag("pre", tag("code", "\n".join(step.commands)), tabindex=0)
        items.append(
            tag("li", tag("h3", step.title), tag("p", step.why), lines if step.commands else None)
        )
    if not items:
        items = [tag("li", tag("p", "Nothing: see below why the data could not be scored."))]
    return section("What to do next", tag("ol", *items, class_="steps"))


def explained(findings: Findings) -> Markup:
    """Return the section on how much of the actions can be predicted."""
    title, shares = "Can the data tell good from bad?", findings.explained
    if shares is None:
        return section(title, tag("p", "There are too few pairs to predict held-out actions."))
    rows = [(label, str(share)) for label, share in shares.rows]
    each = [(name, str(share)) for name, share in shares.dimensions]
    return section(
        title,
        tag("p", "Held-out policies explain this share of the variance of the actions, with a 90 % "
            "interval over episodes. Repeating the previous action also predicts smooth actions, "
            "whatever demonstrators see, so it does not count."),
        *(tag("p", f"{sentence}.") for sentence in shares.verdict),
        table(("explained", "share"), rows, "Explained of the actions' variance"),
        table(("action dimension", "from the present observation"), each,
              "Explained of each action dimension"),
    )  # fmt: skip


def data(findings: Findings) -> Markup:
    """Return the section on the contents, problems and ranges of the data."""
    report, demos = findings.inspection, findings.demos
    lengths = figures.lengths_figure(demos)
    facts = [
        ("Files", "; ".join(f"{Path(s.path).name} ({len(s.episodes):,} episodes)"
                            for s in findings.sources)),
        ("Lengths", words.lengths(findings)),
        ("Rate", f"{report.rate:g} Hz" if report.rate else "not recorded"),
        ("Observations", f"{shape_text(demos.obs_shape)}: "
                         + (shorten([f"{k} ({n})" for k, n in demos.obs_keys]) or "images")),
        ("Cameras", cameras_text(demos.cameras) or None),
        ("Not read", f"{shorten(demos.blind_to)}: policies are blind to these cameras"
                     if demos.blind_to else None),
        ("Actions", f"{demos.action_size}: {shorten(demos.action_names)}"),
        ("Bounds", demos.bounds),
        ("Success", None if (n := report.successes) is None else words.plural(n, "episode")),
        ("Return", None if (mean := report.mean_return) is None else f"{mean:.2f} on average"),
        ("Environment", report.env),
    ]  # fmt: skip
    items = [tag("div", tag("dt", k), tag("dd", v)) for k, v in facts if v is not None]
    return section(
        "What is in the data",
        tag("div", tag("dl", *items, class_="facts"),
            None if lengths is None else tag("figure", lengths), class_="beside"),
        tag("h3", "Problems"), _problems(report.problems),
        tag("h3", "Ranges"), _ranges(report.dimensions),
    )  # fmt: skip


def _problems(problems: Sequence[Problem]) -> Markup:
    if not problems:
        return tag("p", "None found. Checked: values that are not finite, shapes, duplicates, "
                   "short episodes, idle stretches, bounds, constant dimensions.")  # fmt: skip
    items = []
    for problem in problems:
        places = [_place(place) for place in problem.places[:_PLACES]]
        if len(problem.places) > _PLACES:
            places.append("…")
        inside = tag("ul", *(tag("li", p) for p in places)) if places else None
        items.append(tag("li", tag("strong", problem.kind), f": {problem.text}.", inside))
    return tag("ul", *items, class_="problems")


def _place(place: Place) -> str:
    """Return where a problem is; facts that are false are left out."""
    facts = {k: v for k, v in place.facts().items() if v is not False}
    return ", ".join(k if v is True else f"{k} {v}" for k, v in facts.items())


def _ranges(dimensions: Sequence[Dimension]) -> Markup:
    rows = [
        (f"{d.kind} {d.name}", *(digits(x) for x in (d.min, d.mean, d.max, d.std)))
        for d in sorted(dimensions, key=lambda d: d.kind)  # actions first
    ]
    return table(("dimension", "min", "mean", "max", "std"), rows, "Range of each dimension")


def radius(findings: Findings) -> Markup:
    """Return the section on Δ and its evidence."""
    choice = findings.choice
    if choice is None:
        return section("The radius and why", absent(findings, "radius"))
    doubts = [tag("li", f"{d[:1].upper()}{d[1:]}.") for d in choice.warnings]
    guessed = findings.why_guessed
    marks = [] if guessed else [("plateau", "as good as the best")]
    marks += [] if guessed or choice.is_flat else [("chosen", "chosen")]
    figure = tag(
        "figure", figures.radius_figure(choice),
        legend([("curve", "mean over folds ± 1 standard error"), *marks,
                ("reference", _mean_action(choice))]),
    )  # fmt: skip
    sentences = [choice.explanation, _WHY_HELD_OUT]
    if guessed:
        sentences = [
            f"No radius is named: {guessed}, so held-out errors do not tell which one is right."
        ]
    text = tag(
        "div",
        *(tag("p", sentence) for sentence in sentences),
        tag("ul", *doubts, class_="doubts") if doubts else None,
        None if guessed else _per_dimension(findings),
    )
    return section("The radius and why", tag("div", text, figure, class_="beside"))


def _mean_action(choice: RadiusChoice) -> str:
    """Return the error of the mean action, which lies outside most pictures."""
    return f"the mean action, for reference ({percent_above(choice)[2]:+.0f} %)".replace("-", "−")


def _per_dimension(findings: Findings) -> Markup | None:
    choice = findings.choice
    if choice is None or len(choice.per_dimension) < 2:
        return None
    radii = [f"{n} {r:g}" for n, r in zip(choice.action_names, choice.per_dimension, strict=True)]
    return tag("p", f"Each dimension alone would choose: {shorten(radii, 8)}.", class_="small")
