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
    position_time: float | None = None
    """When the position was measured, on the same clock. Without it the loop cannot see that a
    driver repeats an old position."""

    @property
    def oldest_time(self) -> float:
        """The earlier of the two times, by which the limits look ahead."""
        return self.time if self.position_time is None else min(self.time, self.position_time)


@runtime_checkable
class Robot(Protocol):
    """An arm whose end effector follows velocities; implement this for hardware.

    `observe` and `command` return at once: the loop has one period for everything. `stop` may be
    called from another thread at any time, also while `observe` or `command` runs, and again when
    the arm stands already: it must not wait for a lock that they hold.

    A robot may also have a method `close`, which lets go of driver and camera. `counterbc robot`
    calls it at the end, once the arm was stopped.
    """

    limits: Limits
    """What the loop may command."""

    def observe(self) -> Reading | None:
        """Return the newest reading; None before there is one."""

    def command(self, velocity: Array) -> None:
        """Move the end effector at this velocity, (D,) in m/s, until the next command.

        The arm itself has to stop if no command follows within two periods.
        """

    def stop(self) -> None:
        """Brake at once, and stand until the next command."""
