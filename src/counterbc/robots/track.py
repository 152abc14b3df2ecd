"""The puck's track: where it is, and where it was one period earlier."""

from __future__ import annotations

from collections import deque

import numpy as np

from counterbc.data.arrays import Array


class Track:
    """Positions with the times of their pictures.

    Policies read the puck's previous position as one period back, as in the demonstrations. Cameras
    are faster than the loop and lose pictures, so that position is interpolated in time instead of
    being taken from the picture before.
    """

    def __init__(self, period: float) -> None:
        self.period = period
        self._samples: deque[tuple[float, Array]] = deque()

    def add(self, time: float, position: Array) -> None:
        """Append a position; one that is not newer than the last is dropped."""
        if self._samples and time <= self._samples[-1][0]:
            return
        self._samples.append((time, np.asarray(position, float)))
        # One sample at or before the previous period stays, to interpolate from.
        while len(self._samples) > 2 and self._samples[1][0] <= time - self.period:
            self._samples.popleft()

    @property
    def newest(self) -> tuple[float, Array, Array] | None:
        """Time and position of the newest sample, and the position one period before it."""
        if not self._samples:
            return None
        time, position = self._samples[-1]
        times = [t for t, _ in self._samples]
        columns = np.array([p for _, p in self._samples]).T  # (2, n)
        before = np.array([np.interp(time - self.period, times, column) for column in columns])
        return time, position, before
