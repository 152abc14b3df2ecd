"""Clocks, and deadlines at a fixed rate."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What decides when the next tick is due; tests replace it."""

    def now(self) -> float:
        """Return the time in seconds."""
        ...

    def wait_until(self, due: float) -> None:
        """Return when the tick is due, or a little earlier if the loop was stopped."""
        ...

    def notify(self) -> None:
        """Note that an input has arrived."""
        ...


class WallClock:
    """The clock of the machine."""

    def now(self) -> float:
        return time.perf_counter()

    def wait_until(self, due: float) -> None:
        while (rest := due - time.perf_counter()) > 0:
            time.sleep(rest)

    def notify(self) -> None:
        """Do nothing: time passes by itself."""


class VirtualClock:
    """A clock that moves only when it is waited for: work takes no time, tests are repeatable."""

    def __init__(self, start: float = 0.0) -> None:
        self.time = start

    def now(self) -> float:
        return self.time

    def wait_until(self, due: float) -> None:
        self.time = max(self.time, due)

    def notify(self) -> None:
        """Do nothing: nobody waits."""


class Ticks:
    """Deadlines at multiples of a period, so that small delays do not add up.

    Ticks that come more than one period late are not made up for: a burst of them would be a jump.
    The next tick is then due one period after the late one.
    """

    def __init__(self, rate: float, clock: Clock) -> None:
        self.period, self.clock, self.due = 1 / rate, clock, clock.now()

    def wait(self) -> tuple[float, float]:
        """Wait for the next tick; return its time, and how late it is."""
        self.due += self.period
        self.clock.wait_until(self.due)
        now = self.clock.now()
        late = now - self.due
        if late > self.period:
            self.due = now
        return now, late
