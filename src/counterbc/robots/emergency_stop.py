"""A stop that stays until a person resets it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress


class EmergencyStop:
    """A latch: once pressed, nothing but `reset` releases it."""

    def __init__(self, on_press: Callable[[], None] | None = None) -> None:
        self.reason = ""
        self.on_press = on_press
        """Called by `press` once the arms are stopped, for example to cut their power."""
        self._arms: list[Callable[[], None]] = []

    def press(self, reason: str) -> None:
        """Stop for a reason, at once; the first one is kept. Any thread may do this."""
        self.latch(reason)
        with suppress(Exception), ExitStack() as stack:  # the loop stops its arm again, and tells
            if self.on_press is not None:
                stack.callback(self.on_press)
            for stop_arm in tuple(self._arms):  # called before, and an error stops none of them
                stack.callback(stop_arm)

    @contextmanager
    def stopping(self, stop_arm: Callable[[], None]) -> Iterator[None]:
        """Let `press` stop an arm while the block runs, before anything else that it does."""
        self._arms.append(stop_arm)
        try:
            yield
        finally:
            self._arms.remove(stop_arm)

    def latch(self, reason: str) -> None:
        """Keep the reason only: the loop stops the arm, at its next tick or before a command.

        This is one assignment, for signal handlers: they interrupt the driver at any line, so they
        must not call it.
        """
        self.reason = self.reason or reason or "pressed"

    @property
    def is_pressed(self) -> bool:
        return bool(self.reason)

    def reset(self) -> None:
        """Allow motion again; only a person who has seen the reason should do this."""
        self.reason = ""
