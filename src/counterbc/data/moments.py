"""Mean, standard deviation and extremes of columns, from rows that arrive in portions."""

from __future__ import annotations

import numpy as np

from counterbc.data.arrays import Array

_FEW = 10  # values, of which one is expected to have much of the variance
_FAR = 1e4  # distance from the mean, below which an event is no outlier
_HIDDEN = 1e-5  # of the mean: a hundred steps of float32


class Moments:
    """The moments of `width` columns over their finite values."""

    def __init__(self, width: int) -> None:
        self.rows = 0
        self.low, self.high = np.full(width, np.inf), np.full(width, -np.inf)
        self.at_low, self.at_high = np.zeros(width, int), np.zeros(width, int)
        """How many values equal the lowest and the highest one."""
        self.mean = np.zeros(width)
        self._count = np.zeros(width)
        self._squares = np.zeros(width)  # of distances from the mean

    def add(self, values: Array) -> None:
        """Add rows: (T, D)."""
        x = values.astype(np.float64)
        finite = np.isfinite(x)
        self.rows += len(x)
        self._extremes(np.where(finite, x, np.nan))
        count = finite.sum(axis=0)
        x = np.where(finite, x, 0.0)
        mean = x.sum(axis=0) / np.maximum(count, 1)
        squares = (np.where(finite, x - mean, 0.0) ** 2).sum(axis=0)
        # The squares of both sets of rows, and those between their means.
        total = np.maximum(self._count + count, 1)
        difference = mean - self.mean
        self._squares += squares + difference**2 * self._count * count / total
        self.mean += difference * count / total
        self._count += count

    def _extremes(self, x: Array) -> None:
        low, high = np.fmin.reduce(x, axis=0), np.fmax.reduce(x, axis=0)
        self.at_low = np.where(low < self.low, 0, self.at_low)
        self.at_high = np.where(high > self.high, 0, self.at_high)
        self.low, self.high = np.fmin(self.low, low), np.fmax(self.high, high)
        self.at_low = self.at_low + (x == self.low).sum(axis=0)
        self.at_high = self.at_high + (x == self.high).sum(axis=0)

    @property
    def dominated(self) -> Array:
        """Whether one value, or an offset, hides how the others of a column differ: (D,) bool.

        A value does if it has most of the variance and is large; an offset does if 32 bits leave
        less than a hundred steps to the standard deviation. From 2²⁴ on, not even whole numbers
        differ, so that a constant may have been none.
        """
        extreme = np.maximum(self.high - self.mean, self.mean - self.low)
        by_one = (self._count >= _FEW) & (extreme > _FAR) & (extreme**2 > self._squares / 2)
        offset = np.abs(self.mean)
        by_offset = (self.std < _HIDDEN * offset) & ((self.std > 0) | (offset >= 2**24))
        return np.asarray(by_one | by_offset)

    @property
    def std(self) -> Array:
        """The standard deviation of each column: (D,)."""
        return np.sqrt(self._squares / np.maximum(self._count, 1))
