"""Operators and episodes: how far what they showed lies from what is believed."""

from __future__ import annotations

import numpy as np

from counterbc.report import episodes, figures, words
from counterbc.report.drawing import legend
from counterbc.report.findings import Findings
from counterbc.report.html_helpers import MOVES, digits, missing, section, signed
from counterbc.report.markup import Markup, join, table, tag
from counterbc.report.planes import Plane, path_plane

_LISTED = 12  # episodes in the ranking's table
_WORST, _BEST = 3, 2  # episodes with pictures


def operators(found: Findings) -> Markup:
    title = "Operators"
    if found.meaning is None:
        return section(title, missing(found, "scores"))
    scores, names = found.meaning.operators, found.demos.action_names
    if not scores:
        return section(title, tag("p", "The files do not say who demonstrated.", class_="missing"))
    top = max(s.distance if np.isnan(s.high) else s.high for s in scores) * 1.03
    most = max(max(map(abs, s.bias)) for s in scores) or 1.0
    rows = []
    for s in sorted(scores, key=lambda s: s.distance):
        lean = sorted(zip(s.bias, names, strict=True), key=lambda p: -abs(p[0]))[:2]
        told = ", ".join(f"{n} {signed(b)}" for b, n in lean)
        rows.append((
            s.name, s.episodes, f"{s.distance:.3f}",
            join([figures.interval_bar(s, (0, top)), tag("span", s.interval, class_="small")], " "),
            join([figures.bias_bars(s, names, most), tag("span", told, class_="small")], " "),
            *(digits(s.kinematics[m], 2) for m in MOVES),
        ))  # fmt: skip
    columns = ("operator", "episodes", "distance", f"90 % interval (0 … {top:.2f})",
               f"bias per dimension (±{most:.2f})", *MOVES)  # fmt: skip
    return section(
        title,
        tag("p", "Nearest to what is believed first. Bias is the mean of shown − believed: "
            "somebody who is always off to one side. Intervals that overlap do not tell operators "
            "apart."),
        table(columns, rows, "Operators, nearest to what is believed first"),
    )  # fmt: skip


def ranking(found: Findings) -> Markup:
    title = "Episodes"
    if found.meaning is None:
        return section(title, missing(found, "scores"))
    scores, worst = found.meaning.episodes, found.outstanding
    listed = found.ranked[: max(_LISTED, len(worst))]
    known = bool(found.demos.operators)
    columns = ("episode", *["operator"] * known, "pairs", "distance", "90 %", *MOVES)
    rows = [
        (scores[i].name, *[scores[i].operator or ""] * known, f"{scores[i].pairs:,}",
         f"{scores[i].distance:.3f}", scores[i].interval,
         *(digits(scores[i].kinematics[m], 2) for m in MOVES))
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
            "are shares from 0 to 1."), tag("p",
            "An interval that reaches far down says that a few moments make the difference.")),
            figure, class_="beside"),
        tag("h3", f"The {len(listed)} furthest from what is believed"),
        table(columns, rows, "Episodes, furthest from what is believed first"),
    )  # fmt: skip


def pictures(found: Findings) -> Markup:
    title = "Shown against meant"
    if found.meaning is None:
        return section(title, missing(found, "scores"))
    ranked = found.ranked
    worst = ranked[:_WORST]
    best = [i for i in ranked[::-1][:_BEST] if i not in worst]
    plane = path_plane(found.demos)
    cards = [_card(found, i, "furthest", plane) for i in worst]
    cards += [_card(found, i, "nearest", plane) for i in best]
    return section(
        title,
        tag("p", "The episodes furthest from what is believed, and below the nearest for "
            "comparison. Actions in the units of the file." + (
                "" if any(found.meaning.radius) else
                " With Δ = 0 no action is moved: what is meant is what was shown.")),
        episodes.key(found.meaning), *cards,
    )  # fmt: skip


def _card(found: Findings, number: int, role: str, plane: Plane | None) -> Markup:
    assert found.meaning is not None
    score, episode = found.meaning.episodes[number], found.demos.episodes[number]
    shown = episodes.Shown(found.meaning, number)
    told = [
        f"distance {score.distance:.3f} {score.interval}".rstrip(),
        words.length(found, score.pairs),
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
