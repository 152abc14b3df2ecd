"""A loop that ticks at a fixed rate in a thread of its own.

Drawing, sockets and files have other threads, so they can be late without delaying a tick.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
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


class ControlLoop(threading.Thread):
    """Calls `tick` with its time and how late it is, `rate` times a second, until stopped.

    A tick that comes more than one period late is not made up for: a burst of ticks would feel
    like a jump to the person who steers.
    """

    def __init__(self, rate: float, tick: Callable[[float, float], None], clock: Clock) -> None:
        super().__init__(name="control loop", daemon=True)
        self.period, self.tick, self.clock = 1 / rate, tick, clock
        self._stop_event = threading.Event()

    def run(self) -> None:
        due = self.clock.now()
        while not self._stop_event.is_set():
            due += self.period
            self.clock.wait_until(due)
            if self._stop_event.is_set():
                return
            now = self.clock.now()
            late = now - due
            if late > self.period:
                due = now
            self.tick(now, late)

    def stop(self) -> None:
        """Ask the loop to end; a tick that is running is completed."""
        self._stop_event.set()
        self.clock.notify()
        if self.is_alive() and threading.current_thread() is not self:
            self.join(timeout=5)
