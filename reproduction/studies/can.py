"""What the methods learn from the synthetic operators of the world `can`.

Policies take their mean action, since a step of this world takes milliseconds. Networks are the
library's default, or with `--network wide` two layers of 256 units. `can-record` makes the
demonstrations.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from counterbc.experiments.file_cell import FileCell
from counterbc.experiments.file_data import ALL, Subset
from reproduction.options import option
from reproduction.rows import CellOptions, run_cells

WORLD = "can"
NETWORKS: dict[str, dict[str, Any]] = {"default": {}, "wide": {"hidden": (256, 256)}}
WORSE, BETTER = Subset(mask="worse"), Subset(mask="better")
SUBSETS = {"all six operators": ALL, "the two worse operators": WORSE}
BC_SUBSETS = {"the two better operators": BETTER}
"""Subsets for BC alone: what good demonstrations teach."""
ROWS: dict[str, dict[str, Any]] = {
    "BC": {"method": "bc"},
    "Counter-BC, Δ 0.4": {"method": "counter-bc", "radius": 0.4},
    "Counter-BC, Δ 0.4, gripper too": {"method": "counter-bc", "radius": (0.4,) * 7},
    "Weighted-BC": {"method": "weighted-bc"},
    "BC-RNN": {"method": "bc-rnn"},
    "BCND": {"method": "bcnd"},
    "Counter-BC, Δ auto": {"method": "counter-bc", "radius": "auto"},
    "Counter-BC, Δ 0.1": {"method": "counter-bc", "radius": 0.1},
}
"""Labels in the table; the last two are our additions and are computed last."""


@dataclass(frozen=True, kw_only=True)
class CanOptions(CellOptions):
    """Compare methods on recordings of Can's synthetic operators."""

    data: Path = option(Path("can_synthetic_mh_300.hdf5"), "file of demonstrations")
    network: Literal["default", "wide"] = "default"


def run(options: CanOptions) -> None:
    """Compute the missing cells and archive all rows."""
    cells = [cell(subset, row, options) for row in ROWS.values() for subset in SUBSETS.values()]
    cells.insert(2, cell(BETTER, ROWS["BC"], options))
    run_cells(cells, WORLD, options)


def cell(subset: Subset, row: dict[str, Any], options: CanOptions) -> FileCell:
    """Return one method on one subset."""
    return FileCell(
        world=WORLD,
        file=options.data,
        subset=subset,
        acts=("mean",),
        changes=NETWORKS[options.network],
        seeds=options.seeds,
        episodes=options.episodes,
        steps=options.steps,
        **row,
    )
