"""A loop that ticks at a fixed rate in a thread of its own.

Drawing, sockets and files have other threads, so they can be late without delaying a tick.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from counterbc.acting.clock import Clock, Ticks


class ControlLoop(threading.Thread):
    """Calls `tick` with its time and how late it is, `rate` times a second, until stopped.

    A tick that comes more than one period late is not made up for: a burst of ticks would feel
    like a jump to the person who steers. A tick that fails is passed to `on_error`, and the loop
    continues: a thread that ended would leave a page waiting for ever.
    """

    def __init__(
        self, rate: float, tick: Callable[[float, float], None], clock: Clock, *,
        on_error: Callable[[Exception], None],
    ) -> None:  # fmt: skip
        super().__init__(name="control loop", daemon=True)
        self.rate, self.tick, self.clock, self.on_error = rate, tick, clock, on_error
        self._stop_event = threading.Event()

    def run(self) -> None:
        ticks = Ticks(self.rate, self.clock)
        while not self._stop_event.is_set():
            now, late = ticks.wait()
            if self._stop_event.is_set():
                return
            try:
                self.tick(now, late)
            except Exception as error:  # simulators raise what they like
                self.on_error(error)

    def stop(self) -> None:
        """Ask the loop to end; a tick that is running is completed."""
        self._stop_event.set()
        self.clock.notify()
        if self.is_alive() and threading.current_thread() is not self:
            self.join(timeout=5)
