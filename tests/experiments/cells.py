"""Small cells for tests."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pyarrow as pa

from counterbc.experiments.cell import TIMING_COLUMNS
from counterbc.experiments.simulated_cell import SimulatedCell

TINY = SimulatedCell(
    world="intersection", teacher="uniform", sigma=0.5, pairs=20, method="bc", radius=None,
    seeds=2, episodes=2, steps=4,
)  # fmt: skip
GRID = [
    replace(TINY, teacher=teacher, pairs=pairs, method=method, radius=radius)
    for teacher, pairs in product(("uniform", "gaussian"), (20, 40))
    for method, radius in (("bc", None), ("counter-bc", 0.4), ("bc-rnn", None))
]


def repeatable(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows without the columns that differ when a cell is computed again."""
    names = [name for name in TIMING_COLUMNS if name in table.column_names]
    return list(table.drop_columns(names).to_pylist())
