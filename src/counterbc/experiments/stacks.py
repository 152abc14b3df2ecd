"""Cells of a study that train as one stack of networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from counterbc.experiments.cell import Cell
from counterbc.experiments.simulated_cell import SimulatedCell

STACK_SIZE = 4  # cells; their tests run one after the other and must not outlast other work
DATA_FIELDS = ("teacher", "sigma", "pool")  # the cells of a stack differ only in these


def stacks(cells: Sequence[Cell], stacked: bool = True) -> list[tuple[Cell, ...]]:
    """Group cells that differ only in their demonstrations; with `stacked=False`, none.

    A GPU takes little longer for a stack than for one cell; a CPU core gains nothing. The groups
    depend on all cells and not on which are finished, so that a resumed study trains the same
    stacks and computes the same bits.
    """
    if not stacked:
        return [(cell,) for cell in cells]
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(_key(cell), []).append(cell)
    return [
        tuple(group[i : i + STACK_SIZE])
        for group in groups.values()
        for i in range(0, len(group), STACK_SIZE)
    ]


def _key(cell: Cell) -> tuple[Any, ...]:
    """Return what the cells of a stack have in common."""
    if not isinstance(cell, SimulatedCell):
        return (cell.name,)
    return tuple(str(value) for name, value in cell.about.items() if name not in DATA_FIELDS)
