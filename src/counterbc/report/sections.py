"""The parts of the page, one function each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.report import episodes, figures, words
from counterbc.report.advice import Step
from counterbc.report.drawing import legend, number
from counterbc.report.findings import Findings
from counterbc.report.markup import Markup, join, table, tag
from counterbc.report.planes import path_plane
from counterbc.summary import bounds, shorten
from counterbc.trained import radius_text

_PLACES = 3  # places of a problem
_LISTED = 12  # episodes in the ranking's table
_WORST, _BEST = 3, 2  # episodes with pictures
TESTED = 500  # steps of the policies whose errors are tested for peaks
_MOVES = ("smoothness", "jerk", "idle", "efficiency", "saturation")


def section(title: str, *children: object) -> Markup:
    name = title.lower().replace(" ", "-")
    return tag("section", tag("h2", title), *children, id=name)


def tiles(found: Findings) -> Markup:
    """The numbers that are asked for first."""
    said: list[tuple[str, str]] = [
        (f"{len(found.demos):,}", "episodes"),
        (str(len(found.demos.operators) or "–"), "operators"),
        ("–" if found.radius is None else radius_text(found.radius), "radius Δ"),
        ("–" if found.distance is None else f"{found.distance:.2f}", "shown to meant"),
        ("–" if found.fence is None else str(len(found.outstanding)), "episodes stand out"),
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
    said, demos = found.inspection, found.demos
    lengths = figures.lengths_figure(demos)
    facts = [
        ("Files", "; ".join(f"{Path(s).name} ({len(n):,} episodes)" for s, n in found.parts)),
        ("Lengths", words.lengths(found)),
        ("Rate", f"{said['rate']:g} Hz" if said["rate"] else "not recorded"),
        ("Observations", f"{'×'.join(map(str, demos.obs_shape))}: "
                         + (shorten([f"{k} ({n})" for k, n in demos.obs_keys]) or "images")),
        ("Actions", f"{demos.action_size}: {shorten(demos.action_names)}"),
        ("Bounds", bounds(demos)),
        ("Success", None if (n := said["successes"]) is None else words.some(n, "episode")),
        ("Return", None if (mean := said["mean_return"]) is None else f"{mean:.2f} on average"),
        ("World", said["env"]),
    ]  # fmt: skip
    listed = [tag("div", tag("dt", k), tag("dd", v)) for k, v in facts if v is not None]
    return section(
        "What is in the data",
        tag("div", tag("dl", *listed, class_="facts"),
            None if lengths is None else tag("figure", lengths), class_="beside"),
        tag("h3", "Problems"), _problems(said["problems"]),
        tag("h3", "Ranges"), _ranges(said["dimensions"]),
    )  # fmt: skip


def _problems(found: Sequence[dict[str, Any]]) -> Markup:
    if not found:
        return tag("p", "None of those that are looked for: values that are not finite, shapes, "
                   "duplicates, short or idle stretches, bounds, constant dimensions.")  # fmt: skip
    each = []
    for problem in found:
        places = [_place(place) for place in problem["places"][:_PLACES]]
        if len(problem["places"]) > _PLACES:
            places.append("…")
        inside = tag("ul", *(tag("li", p) for p in places)) if places else None
        each.append(tag("li", tag("strong", problem["kind"]), f": {problem['text']}.", inside))
    return tag("ul", *each, class_="problems")


def _place(place: dict[str, Any]) -> str:
    """Where a problem is, in words; what is not so goes without saying."""
    said = {k.replace("_", " "): v for k, v in place.items() if v is not False}
    return ", ".join(k if v is True else f"{k} {v}" for k, v in said.items())


def _ranges(dimensions: Sequence[dict[str, Any]]) -> Markup:
    rows = [
        (f"{d['kind']} {d['name']}", *(_digits(d[k]) for k in ("min", "mean", "max", "std")))
        for d in sorted(dimensions, key=lambda d: str(d["kind"]))  # actions first
    ]
    return table(("dimension", "least", "mean", "most", "std"), rows, "Range of each dimension")


def radius(found: Findings) -> Markup:
    choice = found.choice
    if choice is None:
        return section("The radius and why", _missing(found, "radius"))
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


def operators(found: Findings) -> Markup:
    title = "Operators"
    if found.meaning is None:
        return section(title, _missing(found, "scores"))
    scores, names = found.meaning.operators, found.demos.action_names
    if not scores:
        return section(title, tag("p", "The files do not say who demonstrated.", class_="missing"))
    top = max(s.distance if np.isnan(s.high) else s.high for s in scores) * 1.03
    most = max(max(map(abs, s.bias)) for s in scores) or 1.0
    rows = []
    for s in sorted(scores, key=lambda s: s.distance):
        lean = sorted(zip(s.bias, names, strict=True), key=lambda p: -abs(p[0]))[:2]
        told = ", ".join(f"{n} {_signed(b)}" for b, n in lean)
        rows.append((
            s.name, s.episodes, f"{s.distance:.3f}",
            join([figures.interval_bar(s, (0, top)), tag("span", s.interval, class_="small")], " "),
            join([figures.bias_bars(s, names, most), tag("span", told, class_="small")], " "),
            *(_digits(s.kinematics[m], 2) for m in _MOVES),
        ))  # fmt: skip
    columns = ("operator", "episodes", "distance", f"90 % interval (0 … {top:.2f})",
               f"bias per dimension (±{most:.2f})", *_MOVES)  # fmt: skip
    return section(
        title,
        tag("p", "Nearest to what was meant first. Bias is the mean of shown − meant: somebody who "
            "is always off to one side. Intervals that overlap do not tell operators apart."),
        table(columns, rows, "Operators, nearest to what was meant first"),
    )  # fmt: skip


def ranking(found: Findings) -> Markup:
    title = "Episodes"
    if found.meaning is None:
        return section(title, _missing(found, "scores"))
    scores, worst = found.meaning.episodes, found.outstanding
    listed = found.ranked[: max(_LISTED, len(worst))]
    known = bool(found.demos.operators)
    columns = ("episode", *["operator"] * known, "pairs", "distance", "90 %", *_MOVES)
    rows = [
        (scores[i].name, *[scores[i].operator or ""] * known, f"{scores[i].pairs:,}",
         f"{scores[i].distance:.3f}", scores[i].interval,
         *(_digits(scores[i].kinematics[m], 2) for m in _MOVES))
        for i in listed
    ]  # fmt: skip
    if found.fence is None:
        told = "There are too few episodes to say which stand out."
    else:
        count = words.some(len(worst), "episode") if worst else "no episode"
        told = (
            f"Above {found.fence:.3f}, one and a half interquartile ranges over the upper "
            f"quartile: {count}" + (f" ({words.names(found, worst)})." if worst else ".")
        )
    figure = tag("figure", figures.ranking_figure(found),
                 legend([("far", "stands out"), ("usual", "others")]))  # fmt: skip
    return section(
        title,
        tag("div", tag("div", tag("p", told), tag("p",
            "Beside the distance stand measures of how an episode moves, which know nothing of "
            "what was meant. Smoothness nearer to 0 is smoother; idle, efficiency and saturation "
            "are shares from 0 to 1.")), figure, class_="beside"),
        tag("h3", f"The {len(listed)} furthest from what was meant"),
        table(columns, rows, "Episodes, furthest from what was meant first"),
    )  # fmt: skip


def pictures(found: Findings) -> Markup:
    title = "Shown against meant"
    if found.meaning is None:
        return section(title, _missing(found, "scores"))
    ranked = found.ranked
    worst = ranked[:_WORST]
    best = [i for i in ranked[::-1][:_BEST] if i not in worst]
    plane = path_plane(found.demos)
    cards = [_card(found, i, "furthest", plane) for i in worst]
    cards += [_card(found, i, "nearest", plane) for i in best]
    return section(
        title,
        tag("p", "The episodes furthest from what was meant, and below the nearest for comparison. "
            "Actions in the units of the file." + (
                "" if any(found.meaning.radius) else
                " With Δ = 0 no action is moved: what is meant is what was shown.")),
        episodes.key(found.meaning), *cards,
    )  # fmt: skip


def _card(found: Findings, number: int, role: str, plane: Any) -> Markup:
    assert found.meaning is not None
    score, episode = found.meaning.episodes[number], found.demos.episodes[number]
    shown = episodes.Shown(found.meaning, number)
    told = [
        f"distance {score.distance:.3f} {score.interval}".rstrip(),
        words.length(found, score.pairs) + " pairs",
        None if episode.operator is None else f"by {episode.operator}",
        None if episode.success is None else ("success" if episode.success else "no success"),
        None if episode.reward is None else f"return {episode.reward.sum():.4g}",
    ]
    drawn = shown.dimensions
    size = found.demos.action_size
    few = None
    if len(drawn) < size:
        few = tag("p", f"{len(drawn)} of {size} action dimensions, those furthest off.",
                  class_="small")  # fmt: skip
    plots = [tag("figure", p) for p in episodes.dimension_figures(shown)]
    if plane is not None:
        plots.append(tag("figure", episodes.path_figure(shown, plane), class_="path"))
    return tag(
        "article",
        tag("h3", episode.name, " ", tag("span", role, class_=f"badge {role}")),
        tag("p", " · ".join(t for t in told if t is not None), class_="small"), few,
        tag("div", *plots, class_="pair"),
    )  # fmt: skip


def modes(found: Findings) -> Markup:
    choice = found.choice
    if choice is None:
        told = "Whether several actions are meant at one state is tested while Δ is chosen, which "
        told += "was not done here."
    elif found.peaks is not None:
        told = f"{found.peaks[:1].upper()}{found.peaks[1:]}."
    elif choice.steps < TESTED:
        told = "Not tested: it takes policies of 500 steps or more to tell."
    else:
        told = "No sign that different actions are meant at the same state: the held-out errors of "
        told += "every action dimension have one peak."
    return section("Modes and goals", tag("h3", "Modes"), tag("p", told), *_goals(found))


def _goals(found: Findings) -> list[Markup]:
    head, intents = tag("h3", "Goals"), found.intents
    if intents is None:
        return [head, _missing(found, "intents")]
    total = len(found.demos)
    if intents.groups == 1:
        told = f"One: nothing in these {total} episodes speaks for different goals."
        keys = []
    else:
        told = f"{intents.groups} groups of episodes that act and end differently."
        sure = [intents.confidence[intents.group == k] for k in range(intents.groups)]
        keys = [
            (f"group{k % 4}", f"intent_{k}: {n} episodes ({n / total:.0%}), "
             f"mean confidence {sure[k].mean():.3f}")
            for k, n in enumerate(intents.sizes) if n
        ]  # fmt: skip
    whose = _whose(found)
    return [
        head, tag("p", told), whose or Markup(""),
        tag("div",
            tag("figure", figures.gain_figure(intents),
                tag("figcaption", "Log-likelihood of episodes held out, ± 2 standard errors. The "
                    "fewest groups that are not clearly worse than the best are taken.")),
            tag("figure", figures.groups_figure(found, intents), legend(keys) if keys else None,
                tag("figcaption", "Where the episodes end: last observations.")),
            class_="pair"),
    ]  # fmt: skip


def _whose(found: Findings) -> Markup | None:
    """How the groups spread over operators."""
    intents, people = found.intents, found.demos.operators
    if intents is None or intents.groups < 2 or not people:
        return None
    who = np.array([e.operator for e in found.demos.episodes], dtype=object)
    rows = [
        (name, *(int(((who == name) & (intents.group == k)).sum()) for k in range(intents.groups)))
        for name in people
    ]
    columns = ("operator", *(f"intent_{k}" for k in range(intents.groups)))
    return table(columns, rows, "Episodes of each operator in each group")


def _missing(found: Findings, stage: str) -> Markup:
    reason = found.reasons.get(stage, "It was not looked at.")
    return tag("p", "Not done: ", f"{reason.rstrip('.')}.", class_="missing")


def _digits(value: float, places: int | None = None) -> str:
    if not np.isfinite(value):
        return "–"
    return number(float(f"{value:.4g}") if places is None else round(value, places))


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
