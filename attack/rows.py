"""Results of cases: JSON lines that are written as they are computed, and resumed from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

UNNOTICEABLE = "rows lost where the format has no count"
GOOD = frozenset({"refused", "read", UNNOTICEABLE, "as promised"})
"""Outcomes that keep the promises; every other outcome is a finding."""


@dataclass
class Row:
    """One case and its outcome."""

    key: str
    """The name of the case; the same key and seed give the same case on every machine."""
    outcome: str
    cause: str = ""
    """The root cause of a finding, by which findings are sorted."""
    text: str = ""
    """What was printed, or a traceback."""
    facts: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    """Processor time."""
    megabytes: float = 0.0
    """Peak memory above that of an idle process."""

    @property
    def is_finding(self) -> bool:
        return self.outcome not in GOOD


class RowFile:
    """The rows of a part in a folder of results."""

    def __init__(self, folder: Path, part: str) -> None:
        self.path = folder / f"{part}.jsonl"

    def clear(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("")

    def add(self, row: Row) -> None:
        """Append a row; a line that a kill cut short is ended first."""
        with self.path.open("ab+") as file:
            if file.tell():
                file.seek(-1, 2)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(json.dumps(asdict(row)).encode() + b"\n")

    def rows(self) -> list[Row]:
        """Return the last row of every case, in the order of the first."""
        latest: dict[str, Row] = {}
        for row in self._lines():
            latest[row.key] = row
        return list(latest.values())

    def _lines(self) -> Iterator[Row]:
        if not self.path.exists():
            return
        for line in self.path.read_text("utf-8").splitlines():
            try:
                yield Row(**json.loads(line))
            except (ValueError, TypeError):  # cut short by a kill
                continue
