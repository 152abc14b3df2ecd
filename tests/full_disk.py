"""What a write raises on a full disk."""

from __future__ import annotations

import errno
import os
from typing import Any

from safetensors import SafetensorError


def full(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full_in_rust(*_: Any, **__: Any) -> None:
    """Raise what safetensors raises when a write fails."""
    raise SafetensorError(
        "Error while serializing: I/O error: No space left on device (os error 28)"
    )
