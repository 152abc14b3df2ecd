"""Where this user's machine keeps what can be computed again: decoded films and compiled code."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

FOLDER = "COUNTERBC_CACHE"
"""The environment variable with another folder; empty: nothing is kept."""


def cache_folder(kind: str) -> Path | None:
    """Return the folder for one kind of entries; None if nothing is kept."""
    folder = os.environ.get(FOLDER)
    if folder is not None:
        return Path(folder).absolute() / kind if folder else None
    with suppress(RuntimeError):  # no home
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return Path(base).absolute() / "counterbc" / kind
    return None
