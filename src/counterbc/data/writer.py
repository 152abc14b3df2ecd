"""The function that `Demonstrations.save` writes files with.

Formats depend on data, so data cannot import them. The package root, which knows both, sets the
function when `counterbc` is imported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol


class Writer(Protocol):
    """A function that writes demonstrations to a new path in a named format."""

    def __call__(self, data: Any, path: Path, *, format: str) -> object: ...


_writer: Writer | None = None


def set_writer(writer: Writer) -> None:
    """Let `write` call this function."""
    global _writer
    _writer = writer


def write(data: Any, path: Path, *, format: str) -> None:
    """Write demonstrations with the function that was set."""
    if _writer is None:
        raise RuntimeError("no writer is set; call counterbc.data.writer.set_writer first")
    _writer(data, path, format=format)
