"""What the rows of a finished study show: means over seeds and paired differences."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from counterbc.acting.intervals import Difference, Interval, mean_interval, paired_difference
from counterbc.experiments.cell_files import read_rows
from counterbc.experiments.grid import Entry
from counterbc.experiments.study import Study
from counterbc.files import aside
from counterbc.formats import parquet
from counterbc.printing import without_nan


@dataclass(frozen=True, eq=False)
class SummaryLine:
    """The result of one method on one dataset with one way of acting."""

    entry: Entry
    act: str
    values: NDArray[np.float64]
    """(seeds,) means over the test episodes; NaN for seeds that diverged."""
    difference: Difference | None
    """To the first method on the same data, seed by seed; None for the first method itself."""

    @property
    def interval(self) -> Interval:
        """Return the mean over seeds with its 95 % interval."""
        return mean_interval(self.values)

    @property
    def group(self) -> tuple[str, ...]:
        """Return what the lines of one comparison have in common."""
        return (self.entry.data, self.entry.settings, self.entry.measure, self.act)

    def label(self, method: str) -> str:
        """Return a name of the method with its radius where it has one."""
        return f"{method}, Δ {self.entry.radius}" if self.entry.radius else method

    def as_dict(self) -> dict[str, Any]:
        """Return the line as JSON."""
        e = self.entry
        line = {"data": e.data, "settings": e.settings, "method": e.method, "radius": e.radius}
        line |= {"act": self.act, "measure": e.measure, **asdict(self.interval)}
        if self.difference is None:
            return line | {"difference": None, "p": None}
        return line | {"difference": asdict(self.difference.interval), "p": self.difference.p}


def summarize(entries: Sequence[Entry], study: Study) -> list[SummaryLine]:
    """Return one line per method, dataset and way of acting; every cell must be finished."""
    lines: list[SummaryLine] = []
    first: dict[tuple[str, ...], SummaryLine] = {}
    for entry in entries:
        rows = read_rows(study.path(entry.cell), entry.cell).to_pylist()
        for act in dict.fromkeys(row["act"] for row in rows):
            values = np.array([r[entry.measure] for r in rows if r["act"] == act], np.float64)
            line = SummaryLine(entry, act, values, None)
            reference = first.setdefault(line.group, line)
            if reference is not line:
                difference = paired_difference(values, reference.values)
                line = SummaryLine(entry, act, values, difference)
            lines.append(line)
    return sorted(lines, key=lambda line: [*first].index(line.group))


def write_summary(
    entries: Sequence[Entry], lines: Sequence[SummaryLine], study: Study, folder: Path
) -> None:
    """Write all rows to rows.parquet and the lines to summary.json."""
    table = study.table()
    datasets = [e.data for e in entries for _ in range(_row_count(study.path(e.cell)))]
    with aside(folder / "rows.parquet", replace=True) as temporary:
        parquet.write(table.add_column(0, "demonstrations", pa.array(datasets)), temporary)
    with aside(folder / "summary.json", replace=True) as temporary:
        contents = without_nan([line.as_dict() for line in lines])
        temporary.write_text(json.dumps(contents, indent=1) + "\n")


def _row_count(path: Path) -> int:
    with path.open("rb") as file:
        return int(pq.read_metadata(file).num_rows)
