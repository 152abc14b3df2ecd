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
        ("SIGTSTP", "stopped by Ctrl-Z"),  # its default freezes the watchdog while the arm moves
        ("SIGQUIT", "stopped by Ctrl-\\"),  # its default kills the loop while the arm moves
    )
    if hasattr(signal, name)
}
"""Why a run ended, for each signal that this system has. SIGSTOP and SIGKILL cannot be caught."""


@contextmanager
def stopped_by_signals(stop: EmergencyStop) -> Iterator[threading.Event]:
    """Let signals press an emergency stop while the block runs.

    A driver's call may never return, so every second signal raises KeyboardInterrupt. The one after
    it does not: it might interrupt the call that stops the arm. None of them does once the block
    sets the event, which says that there is no call of a driver any more.

    Signals that the process ignores stay ignored. Only the main thread gets signals; in another
    one, this does nothing.
    """

    def note(number: int, frame: FrameType | None) -> None:
        stop.latch(REASONS[number])
        if next(numbers) % 2 == 0 and not has_no_calls.is_set():
            raise KeyboardInterrupt

    numbers, before, has_no_calls = count(1), {}, threading.Event()
    try:
        if threading.current_thread() is threading.main_thread():
            for number in REASONS:
                if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None):
                    before[number] = handler
                    signal.signal(number, note)
        yield has_no_calls
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def signal_of(ending: str) -> int | None:
    """Return the signal that ended a run, by the text in its summary; None if it was no signal."""
    return next((n for n, text in REASONS.items() if ending.startswith(text)), None)
