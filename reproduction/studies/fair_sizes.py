"""Which of the planned cells of the study `fair` have rows."""

from __future__ import annotations

from reproduction.markdown import markdown_table
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
