"""Whether an ensemble of several networks pays."""

from __future__ import annotations

from collections.abc import Sequence

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


def pays(gains: Sequence[Estimate]) -> bool:
    """Return whether the mean of several gains is above its standard error."""
    gain = float(np.mean([g.value for g in gains]))
    return gain > float(np.sqrt(np.sum([g.se**2 for g in gains])) / len(gains))
