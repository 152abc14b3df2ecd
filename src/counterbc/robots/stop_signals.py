"""Signals that end a run of an arm; the first one raises no error inside a driver's call."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from types import FrameType

from counterbc.robots.emergency_stop import EmergencyStop

INTERRUPTED = "stopped by Ctrl-C"
REASONS = {
    getattr(signal, name): text
    for name, text in (
        ("SIGINT", INTERRUPTED),
        ("SIGTERM", "stopped by SIGTERM"),
        ("SIGHUP", "stopped by SIGHUP"),
    )
    if hasattr(signal, name)
}
"""Why a run ended, for each signal that this system has."""


@contextmanager
def stopped_by_signals(stop: EmergencyStop) -> Iterator[None]:
    """Let signals press an emergency stop while the block runs.

    A driver's call may never return, so every second signal raises KeyboardInterrupt. The one after
    it does not: it might interrupt the call that stops the arm.

    Signals that the process ignores stay ignored. Only the main thread gets signals; in another
    one, this does nothing.
    """

    def note(number: int, frame: FrameType | None) -> None:
        stop.latch(REASONS[number])
        if next(numbers) % 2 == 0:
            raise KeyboardInterrupt

    numbers, before = count(1), {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in REASONS:
                if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None):
                    before[number] = handler
                    signal.signal(number, note)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def signal_of(ended: str) -> int | None:
    """Return the signal that ended a run, by the text in its summary; None if it was no signal."""
    return next((n for n, text in REASONS.items() if ended.startswith(text)), None)
