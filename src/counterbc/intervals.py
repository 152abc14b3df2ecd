"""Means with confidence intervals, and paired comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Interval:
    """A mean with its standard error and Student's 95 % interval; NaN bounds for one number."""

    mean: float
    se: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        if self.n < 2:
            return f"{self.mean:.2f}"
        return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class Difference:
    """How much one run is above another, pair by pair."""

    interval: Interval
    p: float
    """Of a paired t-test, two-sided; not corrected for several comparisons."""


def mean_interval(values: NDArray[Any], level: float = 0.95) -> Interval:
    """The mean of independent numbers; those that are not finite are left out."""
    from scipy import stats

    x = np.asarray(values, dtype=np.float64)
    x = x[np.isfinite(x)]
    if len(x) == 0:
        return Interval(np.nan, np.nan, np.nan, np.nan, 0)
    mean = float(x.mean())
    if len(x) == 1:
        return Interval(mean, np.nan, np.nan, np.nan, 1)
    se = float(x.std(ddof=1) / np.sqrt(len(x)))
    half = float(stats.t.ppf((1 + level) / 2, len(x) - 1)) * se
    return Interval(mean, se, mean - half, mean + half, len(x))


def paired_difference(a: NDArray[Any], b: NDArray[Any]) -> Difference:
    """Mean of a − b over pairs of which both are finite; no p where all differ by the same."""
    from scipy import stats

    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    known = np.isfinite(a - b)
    d = (a - b)[known]
    rounding = 1e-12 * np.abs([a[known], b[known]]).max(initial=0.0)
    if len(d) < 2 or not np.ptp(d) > rounding:
        return Difference(mean_interval(d), np.nan)
    return Difference(mean_interval(d), float(stats.ttest_1samp(d, 0.0).pvalue))
