"""Means of neighbouring steps, with standard errors over the episodes that they come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations

FEW_EPISODES = 5
"""With fewer episodes, folds and clusters are stretches of steps."""
_HALVINGS = 50  # of the interval in which a ratio lies


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error."""

    value: float
    se: float


def cluster_mean(values: Array, cluster: Array) -> Estimate:
    """Return the mean of (n,) values, with a standard error over clusters of dependent values."""
    return cluster_ratio(cluster_sums(values, cluster), np.bincount(cluster).astype(float))


def cluster_ratio(numerator: Array, denominator: Array) -> Estimate:
    """Return the ratio of two sums over C clusters, given by cluster, with its standard error."""
    ratio, clusters = numerator.sum() / denominator.sum(), len(numerator)
    off = ((numerator - ratio * denominator) ** 2).sum() * clusters / max(clusters - 1, 1)
    return Estimate(float(ratio), float(np.sqrt(off) / denominator.sum()))


def trimmed_ratio(numerator: Array, denominator: Array, trim: float) -> Estimate:
    """Return the ratio without a share `trim` of the C clusters at either end, by cluster.

    The ratio R makes the trimmed mean of numerator − R · denominator 0, and its standard error
    comes from the same differences, Winsorized. So a few odd clusters neither move nor widen it,
    and leaving out both ends keeps it unbiased where the differences are symmetric.
    """
    clusters, cut = len(numerator), int(trim * len(numerator))
    if cut == 0 or np.count_nonzero(denominator) <= 2 * cut:
        return cluster_ratio(numerator, denominator)
    inside = slice(cut, clusters - cut)

    def left(ratio: float) -> float:
        return float(np.sort(numerator - ratio * denominator)[inside].sum())

    low, high = 0.0, 1.0
    while left(high) > 0:
        high *= 2
    for _ in range(_HALVINGS):
        ratio = (low + high) / 2
        low, high = (ratio, high) if left(ratio) > 0 else (low, ratio)
    off = numerator - ratio * denominator
    order = np.argsort(off)[inside]
    spread = np.clip(off, off[order[0]], off[order[-1]]).std(ddof=1)  # Winsorized
    return Estimate(ratio, float(spread * np.sqrt(clusters) / denominator[order].sum()))


def cluster_sums(values: Array, cluster: Array) -> Array:
    """Return the sum of (n,) values in each cluster: (C,)."""
    return np.bincount(cluster, weights=values)


def episode_clusters(demos: Demonstrations, stretch: int) -> Array:
    """Return the episode of each learned action, or its stretch of steps: (n,).

    Stretches of this many steps are used if there are few episodes.
    """
    start = demos.starts[demos.learned].astype(float)
    if len(np.unique(start)) < FEW_EPISODES:
        start += (demos.learned - start) // stretch / len(demos.starts)
    return np.unique(start, return_inverse=True)[1]
