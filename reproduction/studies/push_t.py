"""Does Counter-BC help on demonstrations of real people? Push-T, all methods.

Networks are the library's default of two layers of 64 units, or with `--network wide` of 256.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from counterbc.envs import WORLDS
from counterbc.errors import OptionError
from counterbc.experiments.file_cell import FileCell
from counterbc.experiments.file_data import ALL, Subset
from reproduction.options import option
from reproduction.rows import CellOptions, run_cells

WORLD = "push-t"
OBS_KEYS = WORLDS[WORLD].recorded_obs_keys or ()
SUBSETS = (ALL, Subset(share=0.2))
NETWORKS: dict[str, dict[str, Any]] = {"default": {}, "wide": {"hidden": (256, 256)}}
MIXTURE: dict[str, Any] = {"policy": "mixture"}
ROWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("BC", {"method": "bc"}),
    ("Weighted-BC", {"method": "weighted-bc"}),
    ("BC-RNN", {"method": "bc-rnn"}),
    ("BCND", {"method": "bcnd"}),
    ("Counter-BC, Δ 0.4", {"method": "counter-bc", "radius": 0.4}),
    ("Counter-BC, Δ auto", {"method": "counter-bc", "radius": "auto"}),
    ("Counter-BC, Δ 0.1", {"method": "counter-bc", "radius": 0.1}),
    ("Counter-BC, Δ 0.02", {"method": "counter-bc", "radius": 0.02}),
    ("BC on cleaned data", {"method": "bc", "cleaned": True}),
    ("BC, mixture policy", {"method": "bc", "changes": MIXTURE}),
    ("Counter-BC, Δ 0.1, mixture", {"method": "counter-bc", "radius": 0.1, "changes": MIXTURE}),
)
"""Labels of the tables and options of the cells; the paper's methods first."""
PAPER_ROWS = 6


@dataclass(frozen=True, kw_only=True)
class PushTOptions(CellOptions):
    """Compare methods on what people recorded in Push-T."""

    data: Path | None = option(None, "file of demonstrations, pusht_human_206.hdf5")
    network: Literal["default", "wide"] = "default"


def run(options: PushTOptions) -> None:
    """Compute the missing cells and archive all rows."""
    run_cells(cells(options), f"{WORLD}-{options.network}", options)


def cells(options: PushTOptions) -> list[FileCell]:
    """Return the paper's methods before the others, each group with slow cells first."""
    if options.data is None:
        raise OptionError("the study needs a file of people; name it with --data")
    ranked_cells = [
        (
            i >= PAPER_ROWS,
            FileCell(
                world=WORLD,
                file=options.data,
                subset=subset,
                obs=OBS_KEYS,
                seeds=options.seeds,
                episodes=options.episodes,
                steps=options.steps,
                **row,
            ),
        )
        for subset in SUBSETS
        for i, (_, row) in enumerate(rows_of(options.network))
    ]
    return [cell for _, cell in sorted(ranked_cells, key=lambda pair: (pair[0], -pair[1].work))]


def rows_of(network: str) -> list[tuple[str, dict[str, Any]]]:
    """Return `ROWS` with networks of this kind."""
    layers = NETWORKS[network]
    return [(name, row | {"changes": layers | row.get("changes", {})}) for name, row in ROWS]
