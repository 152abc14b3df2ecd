"""Notices a position that stands still while the arm is commanded to move."""

from __future__ import annotations

import numpy as np

from counterbc.data.arrays import Array

RESOLUTION = 0.001
"""Metres by which a position has to change to count as moved: above the noise of a sensor."""
TRAVEL = 0.03
"""Metres that the commands may lead away along an axis before the position has to have moved."""
TICKS = 4
"""Ticks with a command for which an arm and its sensor may show nothing yet."""


class MotionCheck:
    """Compares where the commands lead with the measured position, axis by axis.

    The workspace limit relies on that position. If it is frozen, every command seems to start from
    the same place, and the arm leaves its workspace. An axis is at fault if, since its position
    last moved by more than `RESOLUTION`, the commands of `TICKS` ticks or more lead further than
    `TRAVEL` away: |Σ v T| counts, so commands to and fro that cancel are no fault.
    """

    def __init__(self, period: float, axes: int) -> None:
        self.period = period
        self._last_moved_to = np.full(axes, np.inf)
        self._travel = np.zeros(axes)
        self._ticks = np.zeros(axes, int)

    def add(self, velocity: Array) -> None:
        """Note a velocity (D,) that was commanded for one period."""
        self._travel += velocity * self.period
        self._ticks += velocity != 0

    def is_still(self, position: Array) -> bool:
        """Return whether an axis of a position (D,) should have moved, and did not.

        A position of another size is for the limiter to refuse.
        """
        if np.shape(position) != self._travel.shape:
            return False
        has_moved = np.abs(position - self._last_moved_to) > RESOLUTION
        self._last_moved_to = np.where(has_moved, position, self._last_moved_to)
        self._travel[has_moved] = 0.0
        self._ticks[has_moved] = 0
        return bool(((np.abs(self._travel) > TRAVEL) & (self._ticks >= TICKS)).any())
