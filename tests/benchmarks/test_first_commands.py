"""Whole commands, idle and beside competing processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks import first_commands
from benchmarks.first_commands import COMMANDS, measure
from counterbc.cli import parse
from counterbc.data.cores import cores


def test_idle_and_busy_turns_alternate_after_one_that_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []
    times = iter(
        [(99.0, 99.0, 0.0), (2.0, 1.5, 0.1), (5.0, 1.5, 0.9), (4.0, 2.5, 0.3), (8.0, 2.5, 0.8)]
    )

    @contextmanager
    def compete(count: int) -> Iterator[list[int]]:
        counts.append(count)
        yield []

    monkeypatch.setattr(first_commands, "competitors", compete)
    monkeypatch.setattr(first_commands, "run", lambda *_: next(times))
    assert measure("demo", 2, tmp_path) == {
        "what": "demo", "rounds": 2, "idle": 3.0, "idle, processor": 2.0, "other programs": 0.2,
        "busy": 6.5, "busy, processor": 2.0, "ratio": 2.25,
    }  # fmt: skip
    assert counts == [0, 0, cores(), 0, cores()]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_one_that_counterbc_understands(name: str) -> None:
    assert name.split() == [word for word in COMMANDS[name][2:] if word != "demos.npz"]
    parse([*COMMANDS[name][2:], "--out", "out"])
