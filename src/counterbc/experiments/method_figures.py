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
    """Write how far each method's return is above BC's, paired by run, for both ways of acting."""
    c = outcome.comparison
    figure = Figure(figsize=(8.0, 0.42 * len(c.methods) + 1.75), facecolor="white")
    axes = figure.subplots(1, len(ACTS), sharex=True, sharey=True)
    gains = {
        (m, act): outcome.runs(m, act) - outcome.runs("bc", act) for m in c.methods for act in ACTS
    }
    limits = _near_limits([*gains.values()])
    for axis, act in zip(axes, ACTS, strict=True):
        for row, method in enumerate(c.methods):
            _draw_gain(axis, row, method, gains[method, act], limits)
            mean = f"{outcome.runs(method, act).mean():.2f}"
            axis.text(
                1.02, row, mean, transform=axis.get_yaxis_transform(), va="center", fontsize=8
            )
        axis.text(
            1.02, -0.75, "return", transform=axis.get_yaxis_transform(), fontsize=8, va="center"
        )
        axis.axvline(0, color="black", lw=0.9, zorder=1)
        axis.set_title(ACT_TITLES[act] + "s", fontsize=10, pad=14)
        axis.set_xlabel("return above BC's, same run and starts", fontsize=9)
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="x", color="0.92")
        axis.set_axisbelow(True)
    axes[0].set_xlim(*limits)
    axes[0].set_ylim(len(c.methods) - 0.5, -0.5)
    styles = method_styles(c.methods)
    labels = axes[0].set_yticks(range(len(c.methods)), [styles[m].label for m in c.methods])
    for label, method in zip(labels, c.methods, strict=True):
        label.label1.set(color=styles[method].colour, fontsize=9.5)
    about = (
        f"{c.cell.world.capitalize()}, {c.cell.pairs} pairs, teacher {c.cell.demonstrator()}; "
        f"dots: {c.cell.seeds} runs × {c.cell.episodes} starts, bars: 95 % intervals; "
        f"the expert earns {outcome.expert:.2f}"
    )
    figure.text(0.995, 0.015, about, fontsize=7, color="0.35", ha="right")
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    return save_files(figure, folder, name)


def _near_limits(gains: Sequence[NDArray[Any]]) -> tuple[float, float]:
    """Return the range that shows small gains: no lower than the highest interval is high."""
    intervals = [mean_interval(values) for values in gains]
    high = max([i.high for i in intervals if np.isfinite(i.high)] or [0.0])
    low = min([i.low for i in intervals if np.isfinite(i.low)] or [0.0])
    high = max(1.35 * high, 0.1)
    return max(1.2 * low, -1.6 * high), high


def _draw_gain(
    axis: Any, row: int, method: str, gains: NDArray[Any], limits: tuple[float, float]
) -> None:
    """Draw one method; an arrow at the edge stands for one that is beyond it."""
    colour, interval = method_styles([method])[method].colour, mean_interval(gains)
    if method == "bc" or not np.isfinite(interval.mean):
        axis.text(0, row - 0.12, " BC is the reference" if method == "bc" else " diverged",
                  fontsize=7.5, color="0.35", va="bottom")  # fmt: skip
        return
    if interval.mean < limits[0]:
        text = f"◀ {interval.mean:+.1f} [{interval.low:.1f}, {interval.high:.1f}]"
        axis.text(limits[0], row, text, color=colour, fontsize=8, va="center")
        return
    axis.scatter(gains, [row + 0.22] * len(gains), s=8, color=colour, alpha=0.35, lw=0)
    ends = [[interval.mean - interval.low], [interval.high - interval.mean]]
    axis.errorbar(interval.mean, row, xerr=ends, fmt="o", color=colour, capsize=3, ms=6, lw=1.8)
    if interval.low < limits[0]:  # the rest of the bar is beyond the edge
        axis.text(limits[0], row, "◀", color=colour, fontsize=8, va="center", ha="center")
    axis.annotate(f"{interval.mean:+.2f}", (interval.mean, row), (0, 6), fontsize=8, color=colour,
                  textcoords="offset points", ha="center")  # fmt: skip


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
