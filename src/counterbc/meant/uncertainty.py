"""90 % intervals of a root mean square, over an episode's pairs or a person's episodes."""

from __future__ import annotations

import numpy as np
from scipy import stats

from counterbc.demonstrations import Array

LEVEL = 0.9
_DRAWS = 2000


def of_series(squares: Array) -> tuple[float, float]:
    """Of √mean(squares) for neighbours (T,) that resemble each other; NaN for fewer than 3.

    T numbers whose neighbours correlate by ρ ≥ 0 tell as much as T · (1 − ρ) / (1 + ρ) that do not.
    Student's interval is taken of the logarithm, which keeps it above 0.
    """
    n, mean, std = len(squares), float(np.mean(squares)), float(np.std(squares))
    if n < 3:
        return np.nan, np.nan
    if not std > 0:
        return float(np.sqrt(mean)), float(np.sqrt(mean))
    x = (squares - mean) / std
    rho = float(np.clip((x[1:] * x[:-1]).mean(), 0, 0.95))
    worth = max(n * (1 - rho) / (1 + rho), 2.0)
    half = stats.t.ppf((1 + LEVEL) / 2, worth - 1) * std / np.sqrt(worth - 1) / mean
    root = np.sqrt(mean)
    return float(root * np.exp(-half / 2)), float(root * np.exp(half / 2))


def of_groups(sums: Array, counts: Array, seed: int = 0) -> tuple[float, float]:
    """Of √(Σ sums / Σ counts) by drawing groups (G,) with replacement; NaN for fewer than 2.

    The percentiles are those that make up for a bootstrap of few groups being too narrow.
    """
    groups = len(sums)
    if groups < 2:
        return np.nan, np.nan
    drawn = np.random.default_rng(seed).integers(groups, size=(_DRAWS, groups))
    roots = np.sqrt(sums[drawn].sum(1) / counts[drawn].sum(1))
    wide = np.sqrt(groups / (groups - 1)) * stats.t.ppf((1 + LEVEL) / 2, groups - 1)
    low, high = np.quantile(roots, stats.norm.cdf([-wide, wide]))
    return float(low), float(high)
