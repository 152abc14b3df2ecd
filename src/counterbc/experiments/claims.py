"""Claims on cells of a study, so that processes that share a folder do not repeat work."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from counterbc.files import writing

LOCK_FILE = ".claims"


@contextmanager
def claim(folder: Path, name: str, *, wait: bool = False) -> Iterator[bool]:
    """Claim a cell while the block runs; yield False if another process holds it.

    `wait` waits for the other process instead. A claim is a lock on one byte of one file, which
    the system releases when its process ends, however it ends. Where a file system has no locks,
    every claim succeeds: work may be repeated, but rows stay correct, as they are written whole.
    """
    if sys.platform == "win32":
        yield True
        return
    import fcntl

    offset = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) >> 1
    with writing(folder):
        file = (folder / LOCK_FILE).open("a")
    with file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, offset)
        except (BlockingIOError, PermissionError):
            yield False
            return
        except OSError:  # no locks on this file system
            pass
        yield True  # closing the file releases the lock
