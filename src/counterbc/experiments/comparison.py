"""Several methods on the same simulated demonstrations, tested from the same starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from counterbc.acting.act import Act
from counterbc.acting.device import find_device
from counterbc.acting.intervals import Interval, mean_interval, paired_difference
from counterbc.demonstrators import NO_ERROR, Demonstrator, expert_return, returns
from counterbc.experiments.simulated_cell import SimulatedCell
from counterbc.experiments.workers import WorkerProgress, run_all
from counterbc.files import aside
from counterbc.formats import parquet
from counterbc.training.checks import warn_infeasible


@dataclass(frozen=True)
class Comparison:
    """Methods that learn from the demonstrations of one cell, each run from its own.

    Within a run all methods see the same pairs, the same initial weights where their shapes agree,
    and the same test starts.
    """

    cell: SimulatedCell
    """World, teacher, sizes and settings; its method is not used."""
    methods: tuple[str, ...] = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")
    device: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be computed before any work is done."""
        find_device(self.device)
        self.cells()

    def cells(self) -> dict[str, SimulatedCell]:
        """Return the cell of each method."""
        return {method: replace(self.cell, method=method) for method in self.methods}


@dataclass(frozen=True)
class SameStarts:
    """Returns of the demonstrations and of the expert from the starts of the demonstrations."""

    demonstrated: float
    expert: float
    difference: Interval
    """Demonstrations minus expert, paired by run."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """The result of a comparison."""

    comparison: Comparison
    tables: dict[str, pa.Table]
    """Rows of the cell of each method: one per run and way of acting."""
    expert: float
    """Mean return of the expert from 1000 other starts."""
    same_starts: SameStarts

    @property
    def demonstrated(self) -> float:
        """Return the mean return of the demonstrations."""
        return self.same_starts.demonstrated

    def runs(self, method: str, act: Act, measure: str = "return") -> NDArray[np.float64]:
        """Return the mean of a measure over the test starts of each run: (seeds,)."""
        return select_runs(self.tables[method], act, measure)

    def seconds(self, method: str) -> float:
        """Return the training time of a method."""
        return float(self.tables[method]["train_seconds"][0].as_py())

    def table(self) -> list[dict[str, Any]]:
        """Return one row per method and way of acting, with 95 % intervals and the gain over BC."""
        rows = []
        for method in self.comparison.methods:
            for act in self.comparison.cell.acts:
                runs = self.runs(method, act)
                row = {"method": method, "act": act, **asdict(mean_interval(runs))}
                if "bc" in self.tables and method != "bc":
                    difference = paired_difference(runs, self.runs("bc", act))
                    row |= {"above_bc": asdict(difference.interval), "p": difference.p}
                rows.append(row | {"train_seconds": self.seconds(method)})
        return rows

    def write(self, path: Path) -> None:
        """Write the rows of all methods to a Parquet file."""
        tables = [table.replace_schema_metadata(None) for table in self.tables.values()]
        with aside(path, replace=True) as temporary:
            parquet.write(pa.concat_tables(tables, promote_options="permissive"), temporary)


def select_runs(table: pa.Table, act: Act, measure: str = "return") -> NDArray[np.float64]:
    """Return a measure of every run of a cell with this way of acting: (seeds,)."""
    return np.array([row[measure] for row in table.to_pylist() if row["act"] == act], np.float64)


def run(comparison: Comparison) -> Outcome:
    """Demonstrate, train and evaluate; the methods train side by side on the machine's cores."""
    c, datasets = comparison, comparison.cell.datasets()
    warn_infeasible(datasets, c.cell.settings)
    tables: dict[str, pa.Table] = {}
    # The slow ones first, so that none of them runs last and alone.
    cells = dict(sorted(c.cells().items(), key=lambda item: item[1].work, reverse=True))
    jobs = {m: partial(_job, m, cell, c.device) for m, cell in cells.items()}
    run_all(jobs, tables.__setitem__)
    return Outcome(
        comparison=c,
        tables={method: tables[method] for method in c.methods},
        expert=expert_return(c.cell.world, 1000, 0),
        same_starts=same_starts(c.cell.world, c.cell.demonstrator(), [len(d) for d in datasets]),
    )


def _job(method: str, cell: SimulatedCell, device: str | None) -> pa.Table:
    return cell.rows(device, WorkerProgress(method))


def same_starts(world: str, teacher: Demonstrator, episodes: Sequence[int]) -> SameStarts:
    """Return how a teacher and the expert do from the same starts; run k has episodes[k]."""
    demonstrated, expert = (
        np.array([returns(world, t, count, seed).mean() for seed, count in enumerate(episodes)])
        for t in (teacher, NO_ERROR)
    )
    difference = mean_interval(demonstrated - expert)
    return SameStarts(float(demonstrated.mean()), float(expert.mean()), difference)
