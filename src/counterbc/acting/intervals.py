"""Means with confidence intervals, and paired comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.errors import DataError


@dataclass(frozen=True)
class Interval:
    """A mean with its standard error and 95 % interval; NaN bounds for one number."""

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
    """The paired difference between two runs."""

    interval: Interval
    p: float
    """The p-value of a two-sided paired t-test, not corrected for several comparisons."""


def mean_interval(values: NDArray[Any], level: float = 0.95) -> Interval:
    """Return the mean of independent numbers with Student's interval, without infinite and NaN."""
    from scipy import special  # scipy.stats takes a second to import

    x = np.asarray(values, dtype=np.float64)
    x = x[np.isfinite(x)]
    if len(x) == 0:
        return Interval(np.nan, np.nan, np.nan, np.nan, 0)
    mean = float(x.mean())
    if len(x) == 1:
        return Interval(mean, np.nan, np.nan, np.nan, 1)
    se = float(x.std(ddof=1) / np.sqrt(len(x)))
    half = float(special.stdtrit(len(x) - 1, (1 + level) / 2)) * se
    return Interval(mean, se, mean - half, mean + half, len(x))


def wilson(right: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a share, within [0, 1] and never empty."""
    from scipy import special

    if not 0 <= right <= total or total < 1:
        raise DataError(f"{right} of {total} is no share; there must be at least one case")
    p, z = right / total, float(special.ndtri((1 + level) / 2))
    square = z * z / total
    middle = (p + square / 2) / (1 + square)
    half = z * math.sqrt(p * (1 - p) / total + square / total / 4) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def share_interval(values: NDArray[Any], level: float = 0.95) -> Interval:
    """Return the share of ones among zeros and ones with Wilson's interval, without NaN."""
    x = np.asarray(values, dtype=np.float64).ravel()
    x = x[np.isfinite(x)]
    if not len(x):
        return Interval(np.nan, np.nan, np.nan, np.nan, 0)
    p = float(x.mean())
    low, high = wilson(int(x.sum()), len(x), level)
    return Interval(p, math.sqrt(p * (1 - p) / len(x)), low, high, len(x))


def runs_interval(values: NDArray[Any]) -> Interval:
    """Return the interval over the means of members, or over the episodes of a single one."""
    return mean_interval(values.mean(1) if len(values) > 1 else values[0])


def measure_interval(values: NDArray[Any]) -> Interval:
    """Return the interval of a measure; Wilson's over all episodes if it is 0 or 1 in each.

    Wilson's interval treats all episodes as independent, so it ignores how members differ.
    """
    finite = values[np.isfinite(values)]
    yes_or_no = len(finite) > 0 and bool(np.isin(finite, (0.0, 1.0)).all())
    return share_interval(values) if yes_or_no else runs_interval(values)


def paired_difference(a: NDArray[Any], b: NDArray[Any], *, level: float = 0.95) -> Difference:
    """Return the mean of a − b over finite pairs; p is NaN if all differences are equal."""
    from scipy import special

    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    finite = np.isfinite(a - b)
    d = (a - b)[finite]
    rounding = 1e-12 * np.abs([a[finite], b[finite]]).max(initial=0.0)
    if len(d) < 2 or not np.ptp(d) > rounding:
        return Difference(mean_interval(d, level), np.nan)
    interval = mean_interval(d, level)
    p = 2 * float(special.stdtr(len(d) - 1, -abs(interval.mean / interval.se)))
    return Difference(interval, p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for all of them, by Holm's method; NaN stays."""
    order = np.argsort(p_values, kind="stable")
    count, largest = int(np.isfinite(p_values).sum()), 0.0
    adjusted = list(p_values)
    for rank, i in enumerate(order[:count]):
        largest = max(largest, min(1.0, (count - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted
