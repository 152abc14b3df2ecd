"""Full disks: what a write raises on one, and a limit that works without a disk."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from safetensors import SafetensorError


def full(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full_in_rust(*_: Any, **__: Any) -> None:
    """Raise what safetensors raises when a write fails."""
    raise SafetensorError(
        "Error while serializing: I/O error: No space left on device (os error 28)"
    )


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file grow beyond `size` bytes, as on a disk that is full by then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
