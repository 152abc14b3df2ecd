"""What a study is made of."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Protocol

import pyarrow as pa


class Cell(Protocol):
    """The cell of work: finished, or done again whole."""

    @property
    def name(self) -> str:
        """What its file is called, different for every other cell."""

    @property
    def about(self) -> dict[str, Any]:
        """Everything that decides its rows, but for device and versions."""

    @property
    def work(self) -> float:
        """Seconds of training on one core, roughly."""

    def rows(self, device: str | None = None) -> pa.Table:
        """Compute it; `about` stands in the table's metadata."""


def digest(about: dict[str, Any]) -> str:
    """Eight letters that differ where anything that decides the rows does."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:8]
