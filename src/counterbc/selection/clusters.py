"""Means of neighbouring steps, with standard errors over the episodes that they come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array

LEAST_SHARE = 0.1
"""Where held-out policies explain less of the actions' variance, nothing can be told from them."""


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error."""

    value: float
    se: float


def cluster_mean(values: Array, cluster: Array) -> Estimate:
    """Return the mean of (n,) values, with a standard error over clusters of dependent values."""
    total, count = _sums(values, cluster), _sums(np.ones(len(values)), cluster)
    return cluster_ratio(total, count)


def cluster_ratio(numerator: Array, denominator: Array) -> Estimate:
    """Return the ratio of two sums over C clusters, given by cluster, with its standard error."""
    ratio, clusters = numerator.sum() / denominator.sum(), len(numerator)
    off = ((numerator - ratio * denominator) ** 2).sum() * clusters / max(clusters - 1, 1)
    return Estimate(float(ratio), float(np.sqrt(off) / denominator.sum()))


def explained_share(squares: Array, spread: Array, cluster: Array) -> Estimate:
    """Return the share of the variance of n actions that their predictions explain.

    `squares` are squared errors of the predictions and `spread` squared distances from the mean
    action: (n,) each. 1 is a perfect prediction; 0 or less is no better than the mean action.
    """
    left = cluster_ratio(_sums(squares, cluster), _sums(spread, cluster))
    return Estimate(1 - left.value, left.se)


def cannot_tell(share: Estimate) -> bool:
    """Return whether held-out policies explain too little for any conclusion."""
    return not share.value - share.se >= LEAST_SHARE


def _sums(values: Array, cluster: Array) -> Array:
    return np.bincount(cluster, weights=values)
