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
    low, high = of_each_series(squares[None], np.array([less]), spread)
    return float(low[0]), float(high[0])


def of_each_series(squares: Array, less: Array, spread: float) -> tuple[Array, Array]:
    """Return the same intervals of many series of equal length: (E, T), (E,) → (E,) each."""
    n = squares.shape[1]
    if n < 3:
        return np.full(len(squares), np.nan), np.full(len(squares), np.nan)
    mean, std = squares.mean(1), squares.std(1)
    varies = std > 0  # otherwise all numbers are the same, or some are NaN
    x = (squares - mean[:, None]) / np.where(varies, std, 1.0)[:, None]
    rho = np.clip((x[:, 1:] * x[:, :-1]).mean(1), 0, 0.95)
    worth = np.where(varies, np.maximum(n * (1 - rho) / (1 + rho), 2.0), float(n))
    error = np.where(varies, np.sqrt(std**2 / (worth - 1) + spread**2), spread)
    half = _students(worth) * error
    low, high = np.sqrt(np.maximum([mean - less - half, mean - less + half], 0.0))
    return low, high


def of_groups(squares: Array, less: float = 0.0, spread: float = 0.0) -> tuple[float, float]:
    """Return the interval of √(mean(squares) − less) over independent groups (G,); NaN below 2.

    `spread` is the standard error of `less`.
    """
    groups = len(squares)
    if groups < 2:
        return np.nan, np.nan
    error = float(np.sqrt(np.var(squares, ddof=1) / groups + spread**2))
    mean, half = float(np.mean(squares)) - less, float(_students(np.array(groups)) * error)
    low, high = np.sqrt(np.maximum([mean - half, mean + half], 0.0))
    return float(low), float(high)


def _students(worth: Array) -> Array:
    """Return Student's quantiles; `scipy.stats` checks its arguments for ten times as long."""
    return np.asarray(stdtrit(worth - 1, (1 + LEVEL) / 2))
