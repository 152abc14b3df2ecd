"""A watchdog that stops the arm when the loop itself hangs."""

from __future__ import annotations

import threading
from collections.abc import Callable

from counterbc.acting.clock import Clock

LIMIT, POLL = 1.5, 0.25
"""Periods without a tick after which it acts, and between two looks: together below two."""


class Watchdog:
    """Calls `on_expiry` at every look while it was not fed for 1.5 periods.

    It runs in a thread, so it also acts while the loop waits for a driver or a disk.
    """

    def __init__(self, rate: float, clock: Clock, on_expiry: Callable[[], None]) -> None:
        self.period, self.clock, self.on_expiry = 1 / rate, clock, on_expiry
        self.fed_at = clock.now()
        self.expiries = 0
        """How often the loop hung; one hang counts once, however long it is."""
        self.acting = 0
        """Number of calls of `on_expiry` that have not returned."""
        self.error: Exception | None = None
        """The last error of `on_expiry`; the next look calls it again."""
        self._expired_for: float | None = None
        self._counting = threading.Lock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self.feed()
        self._thread.start()

    def feed(self) -> None:
        """Note that the loop has ticked."""
        now = self.clock.now()
        with self._counting:
            self.fed_at = now

    def check(self) -> None:
        """Act if the last tick is too long ago.

        Once `feed` has returned, a stop for an earlier tick is counted in `acting` or over. So a
        loop that commands nothing while `acting` is above 0 is not stopped without its knowledge.
        """
        fed_at = self.fed_at
        if self.clock.now() - fed_at <= LIMIT * self.period:
            return
        with self._counting:
            if fed_at != self.fed_at:
                return  # the loop has ticked since
            if fed_at != self._expired_for:
                self._expired_for = fed_at
                self.expiries += 1
            self.acting += 1
        try:
            self.on_expiry()
        except Exception as error:  # drivers raise what they like
            self.error = error
        finally:
            with self._counting:
                self.acting -= 1

    def close(self) -> None:
        """Stop watching."""
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join(timeout=1)

    def _watch(self) -> None:
        while not self._is_over.wait(POLL * self.period):
            self.check()
