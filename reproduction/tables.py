"""The rows of a study as a table: means over seeds, successes, and what is above the base."""

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


@dataclass(frozen=True)
class Line:
    """One method on one part of the data, acting in one way."""

    label: str
    value: Interval
    """Of the measure, over seeds."""
    right: int
    """Episodes that succeeded, of all seeds."""
    episodes: int
    above: Difference | None
    """The measure above the base's, seed by seed; None for the base itself."""
    radius: tuple[float, ...]
    """Δ of each seed, largest over dimensions; 0 for methods without."""

    @property
    def rate(self) -> tuple[float, float, float]:
        """The share of successes with Wilson's interval, which takes episodes as independent."""
        if not self.episodes:
            return math.nan, math.nan, math.nan
        return self.right / self.episodes, *wilson(self.right, self.episodes)


def finished(folder: Path, world: str) -> pd.DataFrame:
    """The rows of all populations of a world in a folder."""
    files = sorted(folder.glob(f"{world}-*.parquet"))
    if not files:
        raise DataError(f"{folder} holds no finished populations; run the study first")
    return pd.concat([pd.read_parquet(file) for file in files])


def lines(
    rows: pd.DataFrame, measure: str, success: str = "success", base: str = "bc"
) -> list[Line]:
    """The methods in the order of `rows`, which are of one part of the data and way of acting."""
    by_label = {str(label): own.set_index("seed") for label, own in rows.groupby("label")}
    if base not in by_label:
        raise DataError(f"there are no rows of {base} to compare with; compute them first")
    for label, own in by_label.items():
        if not own.index.is_unique:
            raise DataError(f"{label} has several rows of a seed; give one part and way of acting")
    return [
        _line(label, by_label[label], None if label == base else by_label[base], measure, success)
        for label in dict.fromkeys(map(str, rows["label"]))
    ]


def _line(
    label: str, own: pd.DataFrame, base: pd.DataFrame | None, measure: str, success: str
) -> Line:
    count = own[f"{success}_count"].to_numpy()
    right = np.nan_to_num(own[success].to_numpy()) * count
    above = None
    if base is not None:
        shared = own.index.intersection(base.index)
        pair = (t.loc[shared, measure].to_numpy() for t in (own, base))
        above = paired_difference(*pair)
    return Line(
        label,
        mean_interval(own[measure].to_numpy()),
        round(float(right.sum())),
        int(count.sum()),
        above,
        tuple(max(r) for r in own["radius_used"]),
    )


def markdown(found: Sequence[Line], measure: str, names: dict[str, str] | None = None) -> str:
    """A table of docs; `names` are what labels are called there."""
    base = next(line.label for line in found if line.above is None)
    others = len(found) - 1
    out = [
        f"| method | {measure} [95 %] | above {base} [95 %] | p | successes |",
        "|---|---|---|---|---|",
    ]
    for line in found:
        above, p = "", ""
        if line.above is not None:
            i, known = line.above.interval, math.isfinite(line.above.p)
            above = f"{i.mean:+.3f} [{i.low:+.3f}, {i.high:+.3f}]"
            p = f"{min(1.0, others * line.above.p):.2g}" if known else "–"
        v, (rate, low, high) = line.value, (100 * r for r in line.rate)
        cells = [
            (names or {}).get(line.label, line.label),
            f"{v.mean:.3f} [{v.low:.3f}, {v.high:.3f}]".replace("-", "−"),
            above.replace("-", "−"),
            p,
            f"{line.right} of {line.episodes}: {rate:.1f} % [{low:.1f}, {high:.1f}]",
        ]
        out.append(f"| {' | '.join(cells)} |")
    return "\n".join(out)
