"""What a study is made of."""

from __future__ import annotations

from typing import Any, Protocol

import pyarrow as pa


class Unit(Protocol):
    """The unit of work: finished, or done again whole."""

    @property
    def name(self) -> str:
        """What its file is called, different for every other unit."""

    @property
    def about(self) -> dict[str, Any]:
        """Everything that decides its rows, but for device and versions."""

    @property
    def work(self) -> float:
        """How long it takes, relative to others."""

    def rows(self, device: str | None = None) -> pa.Table:
        """Compute it; `about` stands in the table's metadata."""
