"""Means of neighbouring steps, with standard errors over the episodes that they come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations

FEW_EPISODES = 5
"""With fewer episodes, folds and clusters are stretches of steps."""


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
