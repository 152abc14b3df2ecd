"""Sections on operators and episodes: how far they are from what held-out policies predict."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from counterbc.diagnosis.meaning import Meaning
from counterbc.diagnosis.scores import correlations
from counterbc.report import episode_figures, figures, words
from counterbc.report.drawing import legend
from counterbc.report.findings import Findings
from counterbc.report.html_helpers import MOVES, absent, digits, section, signed
from counterbc.report.markup import Markup, join, table, tag
from counterbc.report.planes import Plane, path_plane

_ROWS = 12  # episodes in the ranking's table
_WORST, _BEST = 3, 2  # episodes with pictures
_MEASURES = (
    "Smoothness nearer to 0 is smoother; idle, efficiency and saturation are shares from 0 to 1."
)
_RULE = (
    "An outlier lies more than 2.5 robust standard deviations further than the median from what "
    "policies predict that learned from the two thirds of the episodes that agree best."
)


def operators(findings: Findings) -> Markup:
    """Return the section with the table of operators."""
    return _scored("Operators", findings, _operators)


def ranking(findings: Findings) -> Markup:
    """Return the section with the episodes by distance, largest first; unranked where the data
    cannot tell."""
    if findings.unranked:
        return section("Episodes", absent(findings, "scores"), *_movements(findings))
    return _scored("Episodes", findings, _ranking)


def pictures(findings: Findings) -> Markup:
    """Return the section with the actions of the first and the last episodes of the ranking."""
    return _scored("Demonstrated and meant actions", findings, _pictures)


def _scored(
    title: str, findings: Findings, body: Callable[[Findings, Meaning], Sequence[Markup]]
) -> Markup:
    """Return a section that needs scores, or why there are none."""
    if findings.meaning is None:
        return section(title, absent(findings, "scores"))
    return section(title, *body(findings, findings.meaning))


def _operators(findings: Findings, meaning: Meaning) -> Sequence[Markup]:
    scores, names = meaning.operators, findings.demos.action_names
    if not scores:
        return [tag("p", "The files do not say who demonstrated.", class_="missing")]
    top = max(s.distance if np.isnan(s.high) else s.high for s in scores) * 1.03 or 1.0
    most = max(max(map(abs, s.bias)) for s in scores) or 1.0
    rows = []
    for s in sorted(scores, key=lambda s: s.distance):
        largest = sorted(zip(s.bias, names, strict=True), key=lambda p: -abs(p[0]))[:2]
        bias = ", ".join(f"{n} {signed(b)}" for b, n in largest)
        rows.append((
            s.name, s.episodes, s.amount,
            join([figures.interval_bar(s, (0, top)), tag("span", s.interval, class_="small")], " "),
            join([figures.bias_bars(s, names, most), tag("span", bias, class_="small")], " "),
            *(digits(s.kinematics[m], 2) for m in MOVES),
        ))  # fmt: skip
    columns = ("operator", "episodes", "distance", f"90 % interval (0 … {top:.2f})",
               f"bias per dimension (±{most:.2f})", *MOVES)  # fmt: skip
    return [
        tag("p", "The smallest distance first. Bias is the mean of demonstrated minus predicted "
            "actions: a constant error to one side. If the intervals of two operators overlap, "
            "the data do not tell which one is better."),
        table(columns, rows, "Operators, smallest distance first"),
    ]  # fmt: skip


def _ranking(findings: Findings, meaning: Meaning) -> Sequence[Markup]:
    scores, outliers = meaning.episodes, findings.outliers
    first = findings.ranking[: max(_ROWS, len(outliers))]
    has_operators = bool(findings.demos.operators)
    columns = ("episode", *["operator"] * has_operators, "pairs", "distance", "90 %", *MOVES)
    rows = [
        (scores[i].name, *[scores[i].operator or ""] * has_operators, f"{scores[i].pairs:,}",
         scores[i].amount, scores[i].interval,
         *(digits(scores[i].kinematics[m], 2) for m in MOVES))
        for i in first
    ]  # fmt: skip
    names = f": {words.names(findings, list(outliers))}" if outliers else ""
    text = findings.why_no_outliers or (
        f"{_RULE} There are {len(outliers) or 'none'}{names}. These need not be the episodes with "
        "the largest distances below, which compare with policies that learned from all the others."
    )
    figure = tag("figure", figures.ranking_figure(findings),
                 legend([("far", "stands out"), ("usual", "others")]))  # fmt: skip
    return [
        tag("div", tag("div", tag("p", text), tag("p",
            "The table also has measures of the movement itself, which do not depend on the "
            f"held-out policies. {_MEASURES}"), tag("p",
            "If an interval reaches far down, a few moments of the episode make the difference.")),
            figure, class_="beside"),
        *_disguise(meaning),
        tag("h3", f"The {len(first)} largest distances"),
        table(columns, rows, "Episodes, largest distance first"),
    ]  # fmt: skip


def _movements(findings: Findings) -> Sequence[Markup]:
    """Return how the first episodes move, which needs no policies."""
    scores = findings.unranked[:_ROWS]
    columns = ("episode", "operator", "pairs", *MOVES)
    rows = [
        (s.name, s.operator or "", f"{s.pairs:,}", *(digits(s.kinematics[m], 2) for m in MOVES))
        for s in scores
    ]
    return [
        tag("p", "What does not depend on policies: how long episodes are and how they move. "
            f"{_MEASURES}"),
        table(columns, rows, f"The first {len(scores)} of {len(findings.unranked):,} episodes, in "
              "the order of the file"),
    ]  # fmt: skip


def _disguise(meaning: Meaning) -> Sequence[Markup]:
    """Return how the ranking correlates with speed and length."""
    pairs = [f"{measure} {value}" for measure, value in correlations(meaning.episodes).items()]
    text = "Rank correlation of the distance with " + ", with ".join(pairs)
    return [tag("p", f"{text} (90 % interval).")] if pairs else []


def _pictures(findings: Findings, meaning: Meaning) -> Sequence[Markup]:
    worst = findings.ranking[:_WORST]
    best = [i for i in findings.ranking[::-1][:_BEST] if i not in worst]
    plane = path_plane(findings.demos)
    cards = [_card(findings, i, "furthest", plane) for i in worst]
    cards += [_card(findings, i, "nearest", plane) for i in best]
    return [
        tag("p", "The episodes with the largest distances, and below them those with the smallest "
            "for comparison. Actions are in the units of the file." + (
                "" if any(meaning.radius) else
                " With Δ = 0, the meant actions are the demonstrated ones.")),
        episode_figures.key(meaning), *cards,
    ]  # fmt: skip


def _card(findings: Findings, number: int, role: str, plane: Plane | None) -> Markup:
    assert findings.meaning is not None
    score, episode = findings.meaning.episodes[number], findings.demos.episodes[number]
    view = episode_figures.EpisodeView(findings.meaning, number)
    facts = [
        f"distance {score.amount} {score.interval}".rstrip(),
        words.length(findings, score.pairs),
        None if episode.operator is None else f"by {episode.operator}",
        None if episode.success is None else ("success" if episode.success else "no success"),
        None if episode.reward is None else f"return {episode.reward.sum():.4g}",
    ]
    count, size, note = len(view.dimensions), findings.demos.action_size, None
    if count < size:
        note = tag("p", f"The {count} of {size} action dimensions with the largest distances.",
                   class_="small")  # fmt: skip
    plots = [tag("figure", p) for p in episode_figures.dimension_figures(view)]
    if plane is not None:
        plots.append(tag("figure", episode_figures.path_figure(view, plane), class_="path"))
    return tag(
        "article",
        tag("h3", episode.name, " ", tag("span", role, class_=f"badge {role}")),
        tag("p", " · ".join(t for t in facts if t is not None), class_="small"), note,
        tag("div", *plots, class_="pair"),
    )  # fmt: skip
