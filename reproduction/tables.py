"""Tables of methods: means over seeds, successes, and the difference to a base method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from counterbc.acting.intervals import (
    Difference,
    Interval,
    mean_interval,
    paired_difference,
    wilson,
)
from counterbc.errors import DataError
from reproduction.markdown import markdown_table


@dataclass(frozen=True)
class ComparisonLine:
    """One method on one part of the data, acting in one way."""

    label: str
    value: Interval
    """The measure over seeds."""
    successes: int
    """Successful episodes of all seeds."""
    episodes: int
    above: Difference | None
    """The paired difference to the base, seed by seed; None for the base itself."""
    radius: tuple[float, ...]
    """Δ of each seed, largest over dimensions; 0 for methods without."""

    @property
    def rate(self) -> tuple[float, float, float]:
        """The share of successes with Wilson's interval, for which episodes are independent."""
        if not self.episodes:
            return math.nan, math.nan, math.nan
        return self.successes / self.episodes, *wilson(self.successes, self.episodes)


def archived_rows(folder: Path) -> pd.DataFrame:
    """Return all rows of a study's archive."""
    path = folder / "rows.parquet"
    if not path.exists():
        raise DataError(f"{path} does not exist; run the study first")
    return pd.read_parquet(path)


def compare_methods(
    rows: pd.DataFrame, measure: str, success: str = "success", base: str = "bc"
) -> list[ComparisonLine]:
    """Return the methods in the order of `rows`, which have one subset and one way of acting."""
    by_label = {str(label): part.set_index("seed") for label, part in rows.groupby("label")}
    if base not in by_label:
        raise DataError(f"there are no rows of {base} to compare with; compute them first")
    for label, part in by_label.items():
        if not part.index.is_unique:
            raise DataError(f"{label} has several rows of a seed; give one subset and one act")
    return [
        _line(label, by_label[label], None if label == base else by_label[base], measure, success)
        for label in dict.fromkeys(map(str, rows["label"]))
    ]


def _line(
    label: str, rows: pd.DataFrame, base: pd.DataFrame | None, measure: str, success: str
) -> ComparisonLine:
    count = rows[f"{success}_count"].to_numpy()
    successes = np.nan_to_num(rows[success].to_numpy()) * count
    above = None
    if base is not None:
        shared_seeds = rows.index.intersection(base.index)
        pair = (t.loc[shared_seeds, measure].to_numpy() for t in (rows, base))
        above = paired_difference(*pair)
    return ComparisonLine(
        label=label,
        value=mean_interval(rows[measure].to_numpy()),
        successes=round(float(successes.sum())),
        episodes=int(count.sum()),
        above=above,
        radius=tuple(max(r) for r in rows["radius_used"]),
    )


def markdown(lines: Sequence[ComparisonLine], measure: str) -> str:
    """Return the lines as a table of the docs."""
    base = next(line.label for line in lines if line.above is None)
    comparisons = len(lines) - 1
    rows = []
    for line in lines:
        above, p = "", ""
        if line.above is not None:
            i, finite = line.above.interval, math.isfinite(line.above.p)
            above = f"{i.mean:+.3f} [{i.low:+.3f}, {i.high:+.3f}]"
            p = f"{min(1.0, comparisons * line.above.p):.2g}" if finite else "–"
        v, (rate, low, high) = line.value, (100 * r for r in line.rate)
        cells = [
            line.label,
            f"{v.mean:.3f} [{v.low:.3f}, {v.high:.3f}]".replace("-", "−"),
            above.replace("-", "−"),
            p,
            f"{line.successes} of {line.episodes}: {rate:.1f} % [{low:.1f}, {high:.1f}]",
        ]
        rows.append(cells)
    head = ("method", f"{measure} [95 %]", f"above {base} [95 %]", "p", "successes")
    return markdown_table(head, rows)
