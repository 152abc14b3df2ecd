"""Who hears that native code is compiled, which takes a while and happens once on a machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MESSAGE = "Compiling the training step for this machine, once: about 20 seconds."
_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def hear_compiling(listener: Callable[[str], None]) -> Iterator[None]:
    """Let a function be called with a sentence before code is compiled."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def announce_compiling() -> None:
    """Tell whoever listens that code will be compiled."""
    listener = _listener.get()
    if listener is not None:
        listener(MESSAGE)
