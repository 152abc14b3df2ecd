"""Which part of a dataset is asked for: some episodes by name, and some rows of each.

Readers that can do so pass over the rest without reading it; `Stream.guarded` drops what others
have read too much.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class AskedPart:
    """A part of a dataset; the default is all of it."""

    names: frozenset[str] | None = None
    """Names of episodes; None: all episodes."""
    begin: int = 0
    """The first row of each episode to read."""
    end: int | None = None
    """The row after the last one to read; None: up to the end of the episode."""


WHOLE = AskedPart()
_current_part: ContextVar[AskedPart] = ContextVar("asked", default=WHOLE)


@contextmanager
def asking(part: AskedPart) -> Iterator[None]:
    """Let readers read only this part while the block runs."""
    token = _current_part.set(part)
    try:
        yield
    finally:
        _current_part.reset(token)


def is_asked(name: str) -> bool:
    """Return whether an episode is to be read."""
    names = _current_part.get().names
    return names is None or name in names


def asked_rows(length: int) -> slice:
    """Return the rows to read of an episode of this length, which may be none."""
    part = _current_part.get()
    begin = min(part.begin, length)
    return slice(begin, length if part.end is None else max(begin, min(part.end, length)))
