"""What the loop needs of an arm: its limits and three methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from counterbc.data.arrays import Array
from counterbc.robots.limits import Limits


@dataclass(frozen=True)
class Reading:
    """The newest observation of an arm and its camera."""

    obs: Array  # (S,), in the units of the demonstrations
    position: Array  # (D,), of the end effector in metres; what the workspace limits
    time: float
    """When the camera took the picture, on the clock of the loop: `time.perf_counter()`."""


@runtime_checkable
class Robot(Protocol):
    """An arm whose end effector follows velocities; implement this for hardware.

    `observe` and `command` return at once: the loop has one period for everything. `stop` may be
    called from another thread at any time, also while `observe` or `command` runs, and again when
    the arm stands already: it must not wait for a lock that they hold.
    """

    limits: Limits
    """What the loop may command."""

    def observe(self) -> Reading | None:
        """Return the newest reading; None before there is one, or if the position is old."""

    def command(self, velocity: Array) -> None:
        """Move the end effector at this velocity, (D,) in m/s, until the next command.

        The arm itself has to stop if no command follows within two periods.
        """

    def stop(self) -> None:
        """Brake at once, and stand until the next command."""
