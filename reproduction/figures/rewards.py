"""Figures 4, 5 and 6: mean return against pairs, σ or Δ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.ticker import MaxNLocator

from counterbc.acting.act import ACTS
from counterbc.demonstrators import NOISES
from counterbc.envs import WORLDS
from counterbc.experiments.styles import method_styles
from reproduction.anova import by_subject, method_test
from reproduction.figure_numbers import (
    AboveBC,
    DemonstratedReturn,
    Figure4,
    Figure5,
    Figure6,
    FigureCell,
    Lead,
    MethodTest,
)
from reproduction.improvement import of_paper
from reproduction.plots import (
    WIDTH,
    band,
    label_below,
    legend,
    new_figure,
    radius_used,
    save,
    title,
)
from reproduction.trends import (
    COUNTER_BC,
    adjusted_tests,
    alike,
    gains,
    in_each_world,
    leads,
    steps,
)


@dataclass(frozen=True)
class Axis:
    """The x-axis of a figure."""

    column: str
    label: str
    log: bool = False


AXES = {
    "figure4": Axis("pairs", "state–action pairs", log=True),
    "figure5": Axis("sigma", "noise σ"),
    "figure6": Axis("radius", "radius Δ"),
}


def draw(name: str, rows: pd.DataFrame, folder: Path) -> Figure4 | Figure5 | Figure6:
    """Draw one figure per way of acting; return means and the tests behind the claims."""
    for act in ACTS:
        _draw_act(name, rows[rows["act"] == act], folder)
    column = AXES[name].column
    cells = figure_cells(rows, column)
    if name == "figure6":
        return Figure6(cells=cells, above_bc=above_bc(rows))
    if name == "figure5":
        return Figure5(
            cells=cells,
            statistics=tests(rows, column),
            leads=in_each_world(rows, column, leads),
            steps=in_each_world(rows, column, steps),
            alike=in_each_world(rows, column, alike),
        )
    return Figure4(
        cells=cells,
        statistics=tests(rows, column),
        leads=in_each_world(rows, column, leads),
        gains=in_each_world(rows, column, gains),
        epsilon_greedy=above_bcnd(rows),
        shown=demonstrated_returns(rows),
    )


def tests(rows: pd.DataFrame, column: str) -> tuple[MethodTest, ...]:
    """Return tests per world and way of acting: each teacher alone, then the paper's pooled.

    A subject is a dataset: one teacher, one point of the x-axis, one run.
    """
    results = []
    for (world, act), part in rows.groupby(["world", "act"], sort=False):
        teachers = list(dict.fromkeys(part["teacher"]))
        groups = {t: part[part["teacher"] == t] for t in teachers}
        paper_rows = of_paper(part)
        if paper_rows["teacher"].nunique() > 1:
            groups["all"] = paper_rows
        for teacher, teacher_rows in groups.items():
            wide = by_subject(teacher_rows, "return", ("teacher", column, "seed"))
            results.append(method_test(wide, world=world, act=act, teacher=teacher))
    return tuple(results)


def above_bcnd(rows: pd.DataFrame) -> tuple[Lead, ...]:
    """Return the lead of Counter-BC over BCND alone, under ε-greedy."""
    greedy = (rows["teacher"] == "epsilon-greedy") & rows["method"].isin((COUNTER_BC, "bcnd"))
    return in_each_world(rows[greedy], "pairs", leads)


def demonstrated_returns(rows: pd.DataFrame) -> tuple[DemonstratedReturn, ...]:
    """Return the mean return of the demonstrations over runs; recordings of people have none."""
    if "shown_return" not in rows:
        return ()
    finite = rows.dropna(subset=["shown_return"])
    once = finite.drop_duplicates(["world", "teacher", "pairs", "seed"])
    table = once.groupby(["world", "teacher"], sort=False)["shown_return"].agg(["mean", "std"])
    records = table.reset_index().to_dict("records")
    return tuple(DemonstratedReturn(**{str(k): v for k, v in row.items()}) for row in records)


def above_bc(rows: pd.DataFrame) -> tuple[AboveBC, ...]:
    """Return tests of Counter-BC against BC, run by run; p is adjusted over the radii."""
    results = []
    for (world, teacher, act), part in rows.groupby(["world", "teacher", "act"], sort=False):
        bc = part[part["method"] == "bc"].set_index("seed")["return"]
        make = partial(AboveBC, world=world, teacher=teacher, act=act, bc=bc.mean())
        radii = part[part["method"] == COUNTER_BC].groupby("radius")
        runs_by_radius = {
            r: runs.set_index("seed")["return"].reindex(bc.index) for r, runs in radii
        }
        results += adjusted_tests(
            (partial(make, radius=r), runs, bc) for r, runs in runs_by_radius.items()
        )
    return tuple(results)


def figure_cells(rows: pd.DataFrame, column: str) -> tuple[FigureCell, ...]:
    """Return the mean return of each method at each point; a method without a radius has None."""
    keys = ["world", "teacher", *dict.fromkeys((column, "radius")), "method", "act"]
    groups = rows.groupby(keys, sort=False, dropna=False)["return"]
    table = groups.agg(["mean", "sem", "count"]).reset_index()
    records = [{str(k): v for k, v in row.items()} for row in table.to_dict("records")]
    return tuple(
        FigureCell(**row | {"radius": None if pd.isna(row["radius"]) else row["radius"]})
        for row in records
    )


def _draw_act(name: str, rows: pd.DataFrame, folder: Path) -> None:
    worlds, teachers = (list(dict.fromkeys(rows[c])) for c in ("world", "teacher"))
    width = max(WIDTH, WIDTH / 2 * len(worlds))
    figure, axes = new_figure(len(teachers), len(worlds), 1.25 * len(teachers) + 0.9, width)
    for line, teacher in zip(axes, teachers, strict=True):
        for panel, world in zip(line, worlds, strict=True):
            panel_rows = rows[(rows["teacher"] == teacher) & (rows["world"] == world)]
            panel.set_visible(not panel_rows.empty)
            _panel(panel, panel_rows, AXES[name])
            panel.set_title(title(world, teacher), fontsize=7.5, pad=3)
            panel.set_ylabel(WORLDS[world].axis_label)
    label_below(axes, AXES[name].label)
    legend(figure, next(panel for panel in axes.flat if panel.get_visible()), columns=3)
    act = rows["act"].iloc[0]
    save(figure, folder, f"{name}-{act}", _caption(name, rows), legend=True)


def _caption(name: str, rows: pd.DataFrame) -> str:
    first = rows.iloc[0]
    settings = "" if name == "figure6" else radius_used(rows)  # where it is the x-axis
    settings += "" if name == "figure4" else f", {first['pairs']} pairs"
    noisy = set(rows["teacher"]) & set(NOISES)
    sigma = ", noises σ 0.5" if noisy and name != "figure5" else ""
    sigma += "" if name == "figure4" else "; actions span [−1,\u00a01]"
    return (
        f"Mean {_measure_label(rows)} per episode, act={first['act']}; a point is {_counts(rows)}; "
        f"bands: ± standard error. Preset {first['preset']}{settings}{sigma}."
    )


def _measure_label(rows: pd.DataFrame) -> str:
    """Return the measure of an episode; "return" where the worlds of a figure differ."""
    labels = {WORLDS[world].axis_label for world in rows["world"]}
    return labels.pop() if len(labels) == 1 else "return"


def _counts(rows: pd.DataFrame) -> str:
    """Return text such as "n = 50 runs × 100 starts", world by world where it differs."""
    worlds: dict[str, list[str]] = {}
    for world, part in rows.groupby("world", sort=False):
        r = part.iloc[0]
        text = f"n = {r['seeds']} runs × {r['episodes']} starts ({r['steps']:,} gradient steps)"
        worlds.setdefault(text, []).append(str(world))
    if len(worlds) == 1:
        return next(iter(worlds))
    return ", ".join(f"{text} in {' and '.join(names)}" for text, names in worlds.items())


def _panel(panel: Any, rows: pd.DataFrame, axis: Axis) -> None:
    x = sorted(rows[axis.column].dropna().unique())
    for method, style in method_styles(dict.fromkeys(rows["method"])).items():
        part = rows[rows["method"] == method]
        groups = part.groupby(axis.column)["return"]
        mean, sem = groups.mean(), groups.sem()
        if part[axis.column].isna().all():  # a baseline without a radius: one number for every Δ
            mean, sem = (pd.Series(number, x[:: len(x) - 1 or 1])
                         for number in (part["return"].mean(), part["return"].sem()))  # fmt: skip
        band(panel, mean.index, mean, sem, style.colour, label=style.label, marker=style.marker)
    if axis.log:
        panel.set_xscale("log", base=2)
        panel.set_xticks(x, [f"{v:g}" for v in x])
        panel.minorticks_off()
    elif x:
        panel.xaxis.set_major_locator(MaxNLocator(5))
        panel.xaxis.set_major_formatter("{x:g}")
