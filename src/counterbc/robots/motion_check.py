"""Notices a position that stands still while the arm is commanded to move."""

from __future__ import annotations

import numpy as np

from counterbc.data.arrays import Array

RESOLUTION = 0.001
"""Metres by which a position has to change to count as moved: above the noise of a sensor."""
TRAVEL = 0.03
"""Metres that the commands may lead away along an axis before the position has to have moved."""
READINGS = 4
"""Readings in a row with an axis further behind than `TRAVEL`: arms and sensors have delays."""
EXPIRY = 2
"""Periods after which an arm stops by itself if no command follows."""


class MotionCheck:
    """Compares where the commands lead with the measured position, axis by axis.

    The workspace limit relies on that position. If it is frozen, every command seems to start from
    the same place, and the arm leaves its workspace. An axis is behind if, since its position last
    moved by more than `RESOLUTION`, the commands lead further than `TRAVEL` away: their integral
    over time counts, so commands to and fro that cancel are no fault.
    """

    def __init__(self, period: float, axes: int) -> None:
        self.period = period
        self._velocity: Array = np.zeros(axes)
        self._expires_at, self._counted_to = -np.inf, np.inf
        self._last_moved_to = np.full(axes, np.inf)
        self._travel = np.zeros(axes)
        self._readings = np.zeros(axes, int)

    def add(self, velocity: Array, now: float) -> None:
        """Note a velocity (D,) that is commanded from now on."""
        self._count(now)
        self._velocity, self._expires_at = velocity, now + EXPIRY * self.period

    def is_still(self, position: Array, now: float) -> bool:
        """Return whether an axis of a position (D,) should have moved by now, and did not.

        A position of another size is for the limiter to refuse.
        """
        if np.shape(position) != self._travel.shape:
            return False
        self._count(now)
        has_moved = np.abs(position - self._last_moved_to) > RESOLUTION
        self._last_moved_to = np.where(has_moved, position, self._last_moved_to)
        self._travel[has_moved] = 0.0
        is_behind = np.abs(self._travel) > TRAVEL
        self._readings = np.where(is_behind, self._readings + 1, 0)
        return bool((self._readings >= READINGS).any())

    def _count(self, now: float) -> None:
        """Add what the last command leads away until now."""
        seconds = min(now, self._expires_at) - self._counted_to
        self._travel += self._velocity * max(seconds, 0.0)
        self._counted_to = now
