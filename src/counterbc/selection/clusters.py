"""Means of neighbouring steps, with standard errors over the episodes that they come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array


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
