"""Figures that compare methods: the mean of each with its 95 % interval, and a dot per seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from counterbc.acting.act import ACTS
from counterbc.acting.intervals import Interval, mean_interval
from counterbc.experiments.comparison import Outcome
from counterbc.experiments.plots import save_files
from counterbc.experiments.styles import method_styles
from counterbc.experiments.summary import SummaryLine

ACT_TITLES = {"mean": "deterministic action", "sample": "sampled action"}
COLUMNS = 3  # panels beside each other


@dataclass(frozen=True, eq=False)
class Point:
    """One method on the x-axis."""

    label: str
    colour: str
    values: NDArray[Any]
    """(seeds,) one dot each."""
    interval: Interval


def comparison_figure(outcome: Outcome, folder: Path, name: str) -> list[Path]:
    """Write the mean return of each method, one panel per way of acting."""
    c = outcome.comparison
    figure = Figure(figsize=(7.0, 3.4))
    axes = figure.subplots(1, len(ACTS), sharey=True)
    styles = method_styles(c.methods)
    for axis, act in zip(axes, ACTS, strict=True):
        runs = {method: outcome.runs(method, act) for method in c.methods}
        points = [
            Point(styles[m].label, styles[m].colour, values, mean_interval(values))
            for m, values in runs.items()
        ]
        _draw_points(axis, points, "{:.1f}")
        axis.axhline(outcome.expert, color="0.45", lw=0.8, ls="--")
        axis.text(len(c.methods) - 0.5, outcome.expert, "expert", ha="right", va="bottom",
                  fontsize=7, color="0.35")  # fmt: skip
        axis.set_title(ACT_TITLES[act], fontsize=9)
    axes[0].set_ylabel("return per episode")
    figure.suptitle(
        f"{c.cell.world.capitalize()}: {c.cell.pairs} pairs, teacher {c.cell.demonstrator()}, "
        f"{c.cell.seeds} runs × {c.cell.episodes} starts; dots are runs, bars 95 % intervals",
        fontsize=8,
    )
    figure.tight_layout()
    return save_files(figure, folder, name)


def summary_figure(lines: Sequence[SummaryLine], folder: Path, name: str) -> list[Path]:
    """Write one panel per dataset, settings and way of acting, with all methods in it."""
    groups = [list(group) for _, group in groupby(lines, key=lambda line: line.group)]
    columns = min(COLUMNS, len(groups))
    rows = -(-len(groups) // columns)
    figure = Figure(figsize=(3.4 * columns, 3.0 * rows + 0.3))
    panels = [*figure.subplots(rows, columns, squeeze=False).flat]
    styles = method_styles(dict.fromkeys(line.entry.method for line in lines))
    for axis, group in zip(panels, groups, strict=False):
        points = [
            Point(line.label(style.label), style.colour, line.values, line.interval)
            for line in group
            for style in [styles[line.entry.method]]
        ]
        _draw_points(axis, points, "{:.3g}")
        axis.margins(x=0.15, y=0.15)
        data, settings, measure, act = group[0].group
        axis.set_title("\n".join(filter(None, (data, settings, ACT_TITLES[act]))), fontsize=8)
        axis.set_ylabel(measure.replace("_", " "), fontsize=8)
    for axis in panels[len(groups) :]:
        axis.set_visible(False)
    figure.suptitle("Dots are seeds, bars 95 % intervals", fontsize=8)
    figure.tight_layout()
    return save_files(figure, folder, name)


def _draw_points(axis: Any, points: Sequence[Point], number: str) -> None:
    """Draw the points of one panel and label them with the number of their mean."""
    for i, point in enumerate(points):
        mean, low, high = point.interval.mean, point.interval.low, point.interval.high
        low, high = (mean, mean) if point.interval.n < 2 else (low, high)
        dots = [i + 0.18] * len(point.values)
        axis.scatter(dots, point.values, s=8, color=point.colour, alpha=0.35, lw=0)
        if not np.isfinite(mean):  # all seeds diverged
            continue
        axis.annotate(
            number.format(mean), (i, low), (0, -3), textcoords="offset points",
            ha="center", va="top", fontsize=7, color=point.colour,
        )  # fmt: skip
        axis.errorbar(
            i, mean, [[mean - low], [high - mean]], fmt="o", color=point.colour, capsize=3, ms=5
        )
    labels = [point.label for point in points]
    axis.set_xticks(range(len(points)), labels, rotation=25, ha="right", fontsize=8)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color="0.92")
    axis.set_axisbelow(True)
