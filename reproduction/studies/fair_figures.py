"""Figures 4 to 7 with rivals that are tuned as Counter-BC is, from the rows of the study `fair`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.acting.act import ACTS
from counterbc.acting.intervals import mean_interval
from counterbc.demonstrators import NOISES
from counterbc.envs import WORLDS
from counterbc.experiments.styles import COLOURS, MethodStyle, method_style
from reproduction.options import RESULTS, StudyOptions, option
from reproduction.plots import band, label_below, legend, new_figure, save, title
from reproduction.records import Record, read_rows
from reproduction.sizes import PAPER_SIZES
from reproduction.studies.fair import FAIR_WORLDS, FOUR_BC, STUDY, sweep_name
from reproduction.studies.fair_kinds import CROWD
from reproduction.studies.fair_tables import COLUMNS, label

HOCKEY = {
    "hits": "hits per start",
    "distance_per_hit": "distance per hit (m)",
    "time_per_hit": "time per hit (s)",
}
Panel = tuple[str, str, str]
"""World, teacher, and how pairs were taken."""


@dataclass(frozen=True, kw_only=True)
class FairFiguresOptions(StudyOptions):
    """Draw the figures of the fair comparison."""

    out: Path = option(RESULTS, "folder of the rows; the figures are written beside them")


def run(options: FairFiguresOptions) -> None:
    """Draw every figure that has two points or more."""
    rows, folder = read_rows(options.out / STUDY), options.out / STUDY
    for act in ACTS:
        group = [r for r in rows if r["act"] == act]
        main_rows = [r for r in group if r["sigma"] in (None, 0.5)]
        draw_lines(
            _without_hockey(main_rows), "pairs", "state–action pairs", f"figure4-{act}", folder
        )
        noisy = [r for r in group if r["teacher"] == "uniform" and r["pairs"] == 400]
        draw_lines(noisy, "sigma", "noise σ", f"figure5-{act}", folder)
        draw_radii([r for r in main_rows if r["pairs"] == 400], act, folder)
        draw_hockey([r for r in main_rows if r["world"] == "air-hockey"], act, folder)
        draw_means([r for r in main_rows if r["pairs"] == 400], act, folder)


def _without_hockey(rows: Iterable[Record]) -> list[Record]:
    return [r for r in rows if r["world"] != "air-hockey"]


def style(variant: str) -> MethodStyle:
    """Return the look of a variant: a tuned one has its method's colour and a hollow look."""
    if variant == FOUR_BC:
        return MethodStyle(label(variant), COLOURS[1], "p")
    plain = method_style(variant.partition(", ")[0])
    return MethodStyle(label(variant), plain.colour, plain.marker)


def is_tuned(variant: str) -> bool:
    """Return whether everything was chosen from the data."""
    return variant.endswith("tuned")


def panels_of(rows: Iterable[Record], column: str) -> list[Panel]:
    """Return the panels with two points or more of the x-axis, by world and way of taking pairs."""
    points: dict[Panel, set[Any]] = {}
    for r in rows:
        points.setdefault((r["world"], r["teacher"], r["taken"]), set()).add(r[column])
    return sorted((panel for panel, values in points.items() if len(values) > 1), key=panel_order)


def panel_order(panel: Panel) -> tuple[int, str, int]:
    """Return the place of a panel: worlds, whole and scattered pairs, then teachers."""
    world, teacher, taken = panel
    teachers = [*NOISES, CROWD]
    return FAIR_WORLDS.index(world), taken, teachers.index(teacher)


def in_panel(rows: Iterable[Record], panel: Panel) -> list[Record]:
    """Return the rows of a panel."""
    return [r for r in rows if (r["world"], r["teacher"], r["taken"]) == panel]


def panel_title(panel: Panel) -> str:
    """Return world, teacher and how pairs were taken."""
    return f"{title(*panel[:2])}, {panel[2]}"


def points(
    rows: Iterable[Record], column: str, value: str = "return"
) -> tuple[list[Any], Any, Any]:
    """Return x, means and standard errors over runs."""
    groups: dict[Any, list[float]] = {}
    for r in rows:
        if r[value] is not None:
            groups.setdefault(r[column], []).append(r[value])
    x = sorted(groups)
    intervals = [mean_interval(np.array(groups[k])) for k in x]
    return x, np.array([i.mean for i in intervals]), np.array([i.se for i in intervals])


def line(axis: Any, rows: Sequence[Record], variant: str, column: str, value: str) -> None:
    """Draw one variant; a tuned one is dashed."""
    x, mean, se = points([r for r in rows if r["variant"] == variant], column, value)
    if not x:
        return
    look = style(variant)
    band(axis, x, mean, se, look.colour, label=look.label, marker=look.marker)
    if is_tuned(variant):
        axis.lines[-1].set(linestyle=(0, (3, 1.5)), fillstyle="none", markeredgewidth=0.6)


def draw_lines(rows: list[Record], column: str, name: str, file: str, folder: Path) -> None:
    """Draw the return of every variant against an axis, a panel per world and teacher."""
    panels = panels_of([r for r in rows if r["variant"] == "counter-bc"], column)
    if not panels:
        return
    height = -(-len(panels) // 2)
    figure, axes = new_figure(height, 2, 1.45 * height + 1.1, 5.4)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, panel in zip(axes.flat, panels, strict=False):
        group = in_panel(rows, panel)
        for variant in COLUMNS:
            line(axis, group, variant, column, "return")
        axis.set_title(panel_title(panel), fontsize=7.5, pad=3)
        axis.set_ylabel(WORLDS[panel[0]].axis_label)
        if column == "pairs":
            _log(axis, sorted({r[column] for r in group}))
    for shown_axes in ([axis for axis in part if axis.get_visible()] for part in axes.T):
        for axis in shown_axes[-1:]:
            axis.set_xlabel(name)
    legend(figure, axes[0][0], columns=5)
    save(figure, folder, file, caption(rows), legend=True)


def _log(axis: Any, x: Sequence[float]) -> None:
    axis.set_xscale("log", base=2)
    axis.set_xticks(x, [f"{v:g}" for v in x])
    axis.minorticks_off()


def caption(rows: Sequence[Record]) -> str:
    """Return what the lines of a figure are."""
    runs = len({r["seed"] for r in rows})
    return (
        f"act={rows[0]['act']}, n = {runs} runs, ± standard error. Solid: 10,000 steps, Counter-BC "
        "Δ 0.4, as in the paper. Dashed: everything chosen from the data by one search. Scattered: "
        "pairs drawn at random from a large recording; whole: pairs of whole episodes."
    )


def draw_radii(rows: list[Record], act: str, folder: Path) -> None:
    """Draw figure 6: Counter-BC against Δ, with BC, tuned BC and tuned Counter-BC as levels."""
    names = {sweep_name(radius, 10_000) for radius in PAPER_SIZES.radii}
    sweep = [r for r in rows if r["variant"] in names]
    panels = panels_of(sweep, "radius")
    if not panels:
        return
    height = -(-len(panels) // 2)
    figure, axes = new_figure(height, 2, 1.45 * height + 1.0, 5.4)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, panel in zip(axes.flat, panels, strict=False):
        x, mean, se = points(in_panel(sweep, panel), "radius")
        look = method_style("counter-bc")
        band(axis, x, mean, se, look.colour, label="Counter-BC, 10,000 steps", marker=look.marker)
        for variant, dashes in (
            ("bc", "-"), ("bc, tuned", (0, (3, 3))), ("counter-bc, tuned", (3, (3, 3)))
        ):  # fmt: skip  # dashes that alternate where two levels are equal
            group = [r["return"] for r in in_panel(rows, panel) if r["variant"] == variant]
            if group:
                level = mean_interval(np.array(group, np.float64)).mean
                axis.axhline(
                    level, color=style(variant).colour, ls=dashes, lw=1.0, label=label(variant)
                )
        axis.set_title(panel_title(panel), fontsize=7.5, pad=3)
        axis.set_ylabel(WORLDS[panel[0]].axis_label)
        axis.set_xlabel("radius Δ")
    legend(figure, axes[0][0], columns=4)
    text = caption(sweep).replace(", Counter-BC Δ 0.4, as in the paper", "")
    save(figure, folder, f"figure6-{act}", f"400 pairs, {text}", legend=True)


def draw_hockey(rows: list[Record], act: str, folder: Path) -> None:
    """Draw figure 7: the paper's measures of air hockey against pairs."""
    counter_rows = [r for r in rows if r["variant"] == "counter-bc"]
    ways = [way for _, _, way in panels_of(counter_rows, "pairs")]
    if not ways:
        return
    figure, axes = new_figure(len(HOCKEY), len(ways), 1.4 * len(HOCKEY) + 1.0, 5.4)
    for (value, name), axis_row in zip(HOCKEY.items(), axes, strict=True):
        for axis, way in zip(axis_row, ways, strict=True):
            group = [r for r in rows if r["taken"] == way]
            for variant in COLUMNS:
                line(axis, group, variant, "pairs", value)
            _log(axis, sorted({r["pairs"] for r in group}))
            axis.set_ylabel(name)
            axis.set_title(f"{title('air-hockey', 'crowd')}, {way}", fontsize=7.5, pad=3)
    label_below(axes, "state–action pairs")
    legend(figure, axes[0][0], columns=5)
    save(figure, folder, f"figure7-{act}", caption(rows), legend=True)


def draw_means(rows: list[Record], act: str, folder: Path) -> None:
    """Draw the mean of every variant at 400 pairs, a panel per world and teacher."""
    counter_rows = [r for r in rows if r["variant"] == "counter-bc"]
    places = dict.fromkeys((r["world"], r["teacher"], r["taken"]) for r in counter_rows)
    panels = sorted(places, key=panel_order)
    if not panels:
        return
    columns = 3
    height = -(-len(panels) // columns)
    figure, axes = new_figure(height, columns, 1.35 * height + 0.7, 7.2)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, panel in zip(axes.flat, panels, strict=False):
        group = in_panel(rows, panel)
        variants = [v for v in COLUMNS if any(r["variant"] == v for r in group)]
        for y, variant in enumerate(reversed(variants)):
            interval = mean_interval(
                np.array([r["return"] for r in group if r["variant"] == variant], np.float64)
            )
            fill = "none" if is_tuned(variant) else style(variant).colour
            axis.errorbar(
                interval.mean, y, xerr=interval.mean - interval.low, color=style(variant).colour,
                marker=style(variant).marker, ms=4, lw=1.0, capsize=2, mfc=fill,
            )  # fmt: skip
        axis.axvline(np.mean([r["shown"] for r in group]), color="0.7", lw=0.8, ls=":")
        axis.set_yticks(range(len(variants)), [label(v) for v in reversed(variants)], fontsize=6)
        axis.set_title(panel_title(panel), fontsize=7.5, pad=3)
        axis.set_xlabel(WORLDS[panel[0]].axis_label)
    text = caption(rows).replace("± standard error", "95 % intervals, 400 pairs")
    text = text.replace("Solid", "Filled").replace("Dashed", "Hollow")
    save(figure, folder, f"means-{act}", f"{text} Dotted: the demonstrations.")
