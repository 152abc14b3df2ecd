"""Lists of names in short texts."""

from __future__ import annotations

from collections.abc import Sequence


def shorten(names: Sequence[str], count: int = 6) -> str:
    """Return the first few names, and how many there are in all."""
    return ", ".join(names[:count]) + (f", … {len(names)} in all" if len(names) > count else "")
