"""Limits of what the loop may command: speed, acceleration and workspace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import DataError, OptionError


@dataclass(frozen=True)
class Limits:
    """The limits of an end effector, one number per axis."""

    low: tuple[float, ...]
    """The corner of the workspace with the smallest coordinates, in metres."""
    high: tuple[float, ...]
    speed: float = 1.0
    """Largest speed along an axis, in m/s."""
    acceleration: float = 13.0
    """Largest change of speed along an axis, in m/s². Along two axes at once it can be √2 of this;
    where an arm limits its translation as a whole, give its limit over √2."""
    response: float = 0.02
    """Seconds by which the arm follows a command late; it brakes that much earlier."""

    def __post_init__(self) -> None:
        corners = np.array([self.low, self.high], float)
        if corners.ndim != 2 or not np.isfinite(corners).all() or (corners[0] >= corners[1]).any():
            raise OptionError(
                f"the workspace runs from {self.low} to {self.high}; give finite corners, the "
                "first one below the second along every axis"
            )
        for name in ("speed", "acceleration"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise OptionError(f"the {name} limit is {value}; give a finite number above 0")
        if not 0 <= self.response < 1:
            raise OptionError(f"the response time is {self.response}; give 0 to 1 second")


class Limiter:
    """Turns wanted velocities into velocities within the limits.

    With gap g to a side of the workspace, period T and acceleration a, the speed v towards it keeps

        v 2 T + v² / (2 a) ≤ g        (L1)

    so the arm can brake in front of it without exceeding a. It has two periods of travel because a
    loop that hangs is stopped by the watchdog, or by the arm itself, only after that time.

    Speed and workspace come before acceleration: where the measured position jumps, the arm brakes
    harder. All numbers are per axis, and arrays (…, D) are limited row by row.
    """

    def __init__(self, limits: Limits, period: float) -> None:
        self.limits, self.period = limits, period
        self.low, self.high = np.array(limits.low), np.array(limits.high)
        self.velocity: Array = np.zeros(len(self.low))
        """The last commanded velocity."""

    def limit(self, wanted: Array, position: Array, age: float = 0.0) -> Array:
        """Return the velocity to command; 0 where an input is not finite.

        `age` is how old the position is, in seconds.
        """
        shape = np.shape(wanted)
        if shape[-1:] != self.low.shape or np.shape(position) != shape:
            raise DataError(
                f"the wanted velocity has the shape {shape} and the position {np.shape(position)}; "
                f"the workspace needs {self.low.size} numbers each, one per axis; check what the "
                "policy answers and what the arm's driver reads"
            )
        usable = np.isfinite(wanted) & np.isfinite(position)
        wanted = np.where(usable, wanted, 0.0)
        position = np.where(usable, position, self.low)
        speed, change = self.limits.speed, self.limits.acceleration * self.period
        velocity = np.clip(wanted, self.velocity - change, self.velocity + change)
        velocity = np.clip(velocity, -speed, speed)
        ahead = position + self.velocity * (age + self.limits.response)
        up = self._approach(self.high - np.maximum(position, ahead))
        down = self._approach(np.minimum(position, ahead) - self.low)
        velocity = np.minimum(np.maximum(velocity, -down), up)
        self.velocity = np.where(usable, velocity, 0.0)
        return self.velocity.copy()

    def halt(self) -> Array:
        """Return a velocity of 0; the arm brakes as hard as it can."""
        self.velocity = np.zeros_like(self.velocity)
        return self.velocity.copy()

    def _approach(self, gap: Array) -> Array:
        """Return the largest speed that keeps (L1); 0 outside the workspace."""
        a, travel = self.limits.acceleration, 2 * self.period
        gap = np.clip(gap, 0.0, 1e6)
        # The positive root of v² / (2 a) + v 2 T = g, in a form without cancellation.
        return np.asarray(2 * gap / (travel + np.sqrt(travel * travel + 2 * gap / a)))
