"""Which populations of a study train as one stack."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from counterbc.experiments.cell import Cell
from counterbc.experiments.simulated_cell import SimulatedCell, rows_together

MOST = 4  # populations of a stack; their tests, one after the other, must not outlast other work
SHOWN = ("teacher", "sigma", "pool")  # what may differ within a stack: the demonstrations


def stacks(cells: Sequence[Cell], stacked: bool = True) -> list[tuple[Cell, ...]]:
    """Those that differ in their demonstrations alone, some at a time; or each alone.

    A GPU takes little longer for some of them than for one; a core gains nothing. It depends on
    what was asked for and not on what is finished, so that a study that was stopped goes on with
    the same stacks, and so to the same bits.
    """
    if not stacked:
        return [(cell,) for cell in cells]
    alike: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        alike.setdefault(_key(cell), []).append(cell)
    return [
        tuple(group[i : i + MOST])
        for group in alike.values()
        for i in range(0, len(group), MOST)
    ]  # fmt: skip


def _key(cell: Cell) -> tuple[Any, ...]:
    if not isinstance(cell, SimulatedCell):
        return (cell.name,)
    return tuple(value for name, value in cell.about.items() if name not in SHOWN)


def compute(
    stack: tuple[Cell, ...], wanted: Collection[str], device: str | None
) -> dict[str, pa.Table]:
    """The rows of the wanted ones, by name."""
    populations = [cell for cell in stack if isinstance(cell, SimulatedCell)]
    if populations:
        return rows_together(populations, device, wanted)
    return {cell.name: cell.rows(device) for cell in stack}
