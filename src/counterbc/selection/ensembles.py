"""How many networks of an ensemble pay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from counterbc.data.arrays import Array
from counterbc.selection.clusters import Estimate


def by_size(residual: Array, sizes: Sequence[int]) -> Array:
    """Return the squared error of ensembles of each size from residuals (R, n, A): (sizes, n)."""
    rows = []
    for size in sizes:
        groups = residual[: len(residual) // size * size].reshape(-1, size, *residual.shape[1:])
        rows.append((groups.mean(1) ** 2).sum(-1).mean(0))
    return np.stack(rows)


def smallest_as_good(sizes: Sequence[int], gains: Callable[[int, int], Iterable[Estimate]]) -> int:
    """Return the smallest size whose error is within one standard error of the best size's.

    `gains(i, j)` are how far the errors of size j are below those of size i, one per choice.
    """
    indices = range(len(sizes))
    best = max(indices, key=lambda j: float(np.mean([g.value for g in gains(0, j)])))
    return next(sizes[i] for i in indices if not pays([*gains(i, best)]))


def pays(gains: Sequence[Estimate]) -> bool:
    """Return whether the mean of several gains is above its standard error."""
    gain = float(np.mean([g.value for g in gains]))
    return gain > float(np.sqrt(np.sum([g.se**2 for g in gains])) / len(gains))
