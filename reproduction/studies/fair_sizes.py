"""Which of the planned cells of the study `fair` have rows."""

from __future__ import annotations

from reproduction.markdown import markdown_table
from reproduction.paper import PAPER_METHODS
from reproduction.plots import title
from reproduction.records import Record
from reproduction.studies.fair import (
    FAIR_WORLDS,
    LAG_PARTS,
    PAPER_VARIANTS,
    SWEEPS,
    FairOptions,
    cells,
    first_of_sweep,
)

MINUTES = {"fixed": 1.5, "tuned": 3.0, "sweep": 10.0, "slow search": 10.0}
"""Rough minutes of one CPU core per cell of 50 runs, with its tests.

Fixed and tuned ones are as measured on BCND and Weighted-BC in air hockey and on tuned BC and
Counter-BC in Cartpole; the others are scaled from these by the seconds of training on a GPU.
"""
CELL = ("world", "pairs", "taken", "teacher", "sigma", "variant")
"""The columns that tell cells apart."""


def sizes(rows: list[Record]) -> str:
    """Return how many of the planned cells were run: by world, protocol, part and size."""
    finished_cells = {tuple(r[name] for name in CELL) for r in rows}
    counts: dict[tuple[str, str, str], dict[int, list[int]]] = {}
    for about in cells(FairOptions()) if rows else ():
        if about["variant"] not in LAG_PARTS:
            cell = tuple((about | first_of_sweep(about))[name] for name in CELL)
            line = counts.setdefault((about["world"], about["taken"], part_of(about)), {})
            line.setdefault(about["pairs"], []).append(int(cell in finished_cells))
    lines = [
        [title(world), protocol, part, _share(count)]
        for (world, protocol, part), count in sorted(counts.items(), key=_place_order)
    ]
    head = ["world", "pairs", "part", "number of pairs: cells that were run, of those planned"]
    return markdown_table(head, lines)


def not_run(rows: list[Record]) -> str:
    """Return the cells that are planned and have no rows, by part, with their cost on a CPU."""
    finished_cells = {tuple(r[name] for name in CELL) for r in rows}
    counts: dict[str, list[float]] = {}
    for about in cells(FairOptions()) if rows else ():
        is_run = tuple((about | first_of_sweep(about))[name] for name in CELL) in finished_cells
        if about["variant"] not in LAG_PARTS and not is_run:
            name, minutes = _missing_part(about)
            counts.setdefault(name, []).append(minutes)
    lines = [
        [name, str(len(minutes)), f"{sum(minutes) / 60:.1f}"]
        for name, minutes in sorted(counts.items())
    ]
    return markdown_table(["part", "cells that were not run", "hours of one core, about"], lines)


def _missing_part(about: Record) -> tuple[str, float]:
    """Return the line of a cell that was not run, and its minutes."""
    name, _, tuned = about["variant"].partition(", ")
    is_slow = bool(tuned) and name not in ("bc", "counter-bc")
    minutes = MINUTES["slow search" if is_slow else "tuned" if tuned else "fixed"]
    if about["variant"] in SWEEPS:
        return f"figure 6: Δ, and Δ × steps, in {title(about['world'])}", MINUTES["sweep"]
    if about["sigma"] not in (None, 0.5):
        return f"figure 5: other σ, in {title(about['world'])}", minutes
    if about["pairs"] != 400:
        return f"other sizes, {part_of(about)}", minutes
    if is_slow:
        baselines = name in PAPER_METHODS
        group = "Weighted-BC, BC-RNN and BCND" if baselines else "posterior and ε-insensitive"
        return f"400 pairs: {group}, tuned, in {title(about['world'])}", minutes
    return f"400 pairs: BC and Counter-BC, {part_of(about)}, in {title(about['world'])}", minutes


def part_of(about: Record) -> str:
    """Return which part of the study a cell belongs to."""
    if about["variant"] in SWEEPS:
        return "Δ and steps (figure 6)"
    if about["sigma"] not in (None, 0.5):
        return "other σ (figure 5)"
    return "fixed" if about["variant"] in PAPER_VARIANTS else "tuned"


def _share(count: dict[int, list[int]]) -> str:
    return ", ".join(f"{n}: {sum(done)} of {len(done)}" for n, done in sorted(count.items()))


def _place_order(item: tuple[tuple[str, str, str], object]) -> tuple[int, str, str]:
    (world, protocol, part), _ = item
    return FAIR_WORLDS.index(world), protocol, part
