"""Which populations of a study train as one stack."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from counterbc.studies.population import Population, rows_together
from counterbc.studies.unit import Unit

MOST = 4  # populations of a stack; their tests, one after the other, must not outlast other work
SHOWN = ("teacher", "sigma", "pool")  # what may differ within a stack: the demonstrations


def stacks(units: Sequence[Unit], stacked: bool = True) -> list[tuple[Unit, ...]]:
    """Those that differ in their demonstrations alone, some at a time; or each alone.

    A GPU takes little longer for some of them than for one; a core gains nothing. It depends on
    what was asked for and not on what is finished, so that a study that was stopped goes on with
    the same stacks, and so to the same bits.
    """
    if not stacked:
        return [(unit,) for unit in units]
    alike: dict[tuple[Any, ...], list[Unit]] = {}
    for unit in units:
        alike.setdefault(_key(unit), []).append(unit)
    return [
        tuple(group[i : i + MOST])
        for group in alike.values()
        for i in range(0, len(group), MOST)
    ]  # fmt: skip


def _key(unit: Unit) -> tuple[Any, ...]:
    if not isinstance(unit, Population):
        return (unit.name,)
    return tuple(value for name, value in unit.about.items() if name not in SHOWN)


def compute(
    stack: tuple[Unit, ...], wanted: Collection[str], device: str | None
) -> dict[str, pa.Table]:
    """The rows of the wanted ones, by name."""
    populations = [unit for unit in stack if isinstance(unit, Population)]
    if populations:
        return rows_together(populations, device, wanted)
    return {unit.name: unit.rows(device) for unit in stack}
