"""The log of a run: a header, one line per tick and a summary, as JSON lines.

Every line is written at once to a file opened for appending. If the process dies, all ticks before
it are in the file, and at most the last line is torn; `read_log` leaves that one out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from counterbc.errors import FormatError
from counterbc.files import check_free, check_regular, writing
from counterbc.printing import without_nan


@dataclass(frozen=True, kw_only=True)
class Tick:
    """One period of the loop; times in seconds, None where there was nothing to measure."""

    tick: int
    due: float
    """When the tick was due, since the start."""
    late: float
    """How long after that it began."""
    age: float | None
    """How old the camera's picture was when the arm had been observed."""
    inference: float | None
    """How long the policy computed."""
    round_trip: float | None
    """From the question to the answer, the way between the processes included."""
    latency: float | None
    """From the camera's picture to the command."""
    sent: float
    """When the command was sent, since the start."""
    jitter: float
    """How far the time between this command and the last one is from the period."""
    missed: int
    """Number of deadlines that passed before the command was sent."""
    action: tuple[float, ...] | None
    velocity: tuple[float, ...]
    """What was commanded; 0 where the arm was stopped."""
    position: tuple[float, ...] | None
    fault: str
    """Why the arm was stopped, if it was."""


class TickLog:
    """A file that the ticks of a run are appended to; without a path they stay in memory."""

    def __init__(self, path: Path | None, header: Mapping[str, Any]) -> None:
        self.path, self.header = path, dict(header)
        self.ticks: list[Tick] = []
        self._file = -1
        if path is not None:
            check_free(path)
            with writing(path):
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
                self._file = os.open(path, flags, 0o666)
        self._write("header", self.header)

    def add(self, tick: Tick) -> None:
        """Append a tick."""
        self.ticks.append(tick)
        self._write("tick", asdict(tick))

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Append the summary and make sure that all is on the disk."""
        self._write("summary", summary)
        if self._file >= 0:
            with writing(self.path or Path()):
                os.fsync(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, kind: str, content: Mapping[str, Any]) -> None:
        if self._file >= 0:
            text = json.dumps(without_nan({"kind": kind, **content}), allow_nan=False)
            line = text.encode() + b"\n"
            with writing(self.path or Path()):
                while line:  # a disk that is almost full takes a part
                    line = line[os.write(self._file, line) :]


def read_log(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any] | None]:
    """Return the header, the ticks and the summary; None for a summary that was not written."""
    if not path.exists():
        raise FormatError(f"{path} does not exist; give a log that counterbc robot run wrote")
    check_regular(path)
    lines = []
    for line in path.read_bytes().split(b"\n")[:-1]:  # after the last line break nothing is whole
        try:
            lines.append(json.loads(line))
        except ValueError:
            raise FormatError(f"{path} is damaged; use the lines before {line[:40]!r}") from None
    if not lines or not isinstance(lines[0], dict) or lines[0].pop("kind", "") != "header":
        raise FormatError(f"{path} is not the log of an arm; its first line is no header")
    summary = lines.pop() if lines[-1].get("kind") == "summary" else None
    return lines[0], lines[1:], summary
