"""Bounds on the memory and time that a file from anybody may take.

A small file can claim any size: compressed zeros, repeated values, false headers. Beyond these
bounds a file is refused, unless its reader says that it is trusted (`load(…, trusted=True)`, or
--trusted).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from counterbc.errors import FormatError

LARGE = 2**26
"""Bytes; arrays up to this size are read whatever their compression."""
RATIO = 200
"""Times that recorded numbers may be compressed, beyond LARGE."""
IMAGE_RATIO = 1000
"""The same for PNG and JPEG images."""
MAX_EPISODES = 1_000_000
"""Episodes of a dataset."""
MAX_FILM = 2**33
"""Bytes of the frames of one episode; films of a still scene compress without limit."""
_TOTAL = 2**30  # bytes of numbers of a dataset that are read whatever their compression
_STEP = "if you trust it, read it with --trusted (trusted=True in Python)"

_trusted: ContextVar[bool] = ContextVar("trusted", default=False)


@contextmanager
def trusting(active: bool) -> Iterator[None]:
    """Lift all bounds while the block runs, if `active`."""
    token = _trusted.set(active)
    try:
        yield
    finally:
        _trusted.reset(token)


def is_trusted() -> bool:
    """Return whether the bounds are lifted."""
    return _trusted.get()


def check_size(label: str, size: int, stored_bytes: int, ratio: int = RATIO) -> None:
    """Refuse an array that claims far more bytes than the file stores for it."""
    if size > LARGE and size > ratio * stored_bytes and not _trusted.get():
        raise FormatError(
            f"{label} claims {size / 1e9:,.2f} GB but the file stores {stored_bytes / 1e9:,.4f} GB "
            f"for it; {_STEP}"
        )


def check_at_most(label: str, count: int, most: int, noun: str) -> None:
    """Refuse a number beyond its bound."""
    if count > most and not _trusted.get():
        raise FormatError(f"{label} has {count:,} {noun}; at most {most:,} are read; {_STEP}")


class Tally:
    """The bytes and episodes that a dataset has taken so far."""

    def __init__(self, path: Path) -> None:
        self._path, self._bytes, self._episodes = path, 0, 0
        self._stored: int | None = None

    def add(self, size: int) -> None:
        """Add an episode with `size` bytes of numbers; refuse it if that is beyond the bounds."""
        self._bytes, self._episodes = self._bytes + size, self._episodes + 1
        check_at_most(str(self._path), self._episodes, MAX_EPISODES, "episodes")
        if self._bytes > _TOTAL:
            if self._stored is None:
                self._stored = _stored_bytes(self._path)
            check_size(str(self._path), self._bytes, self._stored)


def _stored_bytes(path: Path) -> int:
    """Return the size of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in files if file.is_file())
