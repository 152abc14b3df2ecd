"""90 % intervals of a root mean square, over an episode's pairs or an operator's episodes.

Both are Student's intervals of the mean square, less the part of it that is model error; negative
bounds become 0.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from counterbc.data.arrays import Array

LEVEL = 0.9


def of_series(squares: Array, less: float = 0.0, spread: float = 0.0) -> tuple[float, float]:
    """Return the interval of √(mean(squares) − less) of correlated neighbours (T,); NaN below 3.

    T numbers whose neighbours correlate by ρ ≥ 0 count as T · (1 − ρ) / (1 + ρ) independent ones.
    `spread` is the standard error of `less`.
    """
    n, mean, std = len(squares), float(np.mean(squares)), float(np.std(squares))
    if n < 3:
        return np.nan, np.nan
    if not std > 0:
        return _roots(mean - less, _students(n) * spread)
    x = (squares - mean) / std
    rho = float(np.clip((x[1:] * x[:-1]).mean(), 0, 0.95))
    worth = max(n * (1 - rho) / (1 + rho), 2.0)
    error = np.sqrt(std**2 / (worth - 1) + spread**2)
    return _roots(mean - less, _students(worth) * error)


def of_groups(squares: Array, less: float = 0.0, spread: float = 0.0) -> tuple[float, float]:
    """Return the interval of √(mean(squares) − less) over independent groups (G,); NaN below 2.

    `spread` is the standard error of `less`.
    """
    groups = len(squares)
    if groups < 2:
        return np.nan, np.nan
    error = float(np.sqrt(np.var(squares, ddof=1) / groups + spread**2))
    return _roots(float(np.mean(squares)) - less, _students(groups) * error)


def _students(worth: float) -> float:
    """Return Student's quantile; `scipy.stats` checks its arguments for ten times as long."""
    return float(stdtrit(worth - 1, (1 + LEVEL) / 2))


def _roots(mean: float, half: float) -> tuple[float, float]:
    low, high = np.sqrt(np.maximum([mean - half, mean + half], 0.0))
    return float(low), float(high)
