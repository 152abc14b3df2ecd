"""How the benchmark of stops finds the moment to stop; the times need minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import stopping

PROGRAM = """#!/bin/sh
trap 'sleep 0.3; exit 130' INT
echo 'loading torch' >&2
echo '{line}' >&2
{rest}
"""


def program(folder: Path, line: str, rest: str) -> str:
    """Return the path of a command that prints a line, and then does the rest."""
    script = folder / "program"
    script.write_text(PROGRAM.format(line=line, rest=rest))
    script.chmod(0o700)
    return str(script)


def test_a_command_is_stopped_at_its_line_and_timed_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "training bc (torch): 2 of 300, loss 1.2"
    rest = "i=0; while [ $i -lt 600 ]; do sleep 0.1; i=$((i+1)); done"
    monkeypatch.setattr("sys.executable", program(tmp_path, line, rest))
    (tmp_path / "model.safetensors").write_bytes(bytes(3_000_000))
    row = stopping.measure("train, images of 480×640", tmp_path)
    assert 0.3 <= row["seconds"] < 30
    assert row["megabytes"] == 3.0


def test_a_command_that_ends_before_its_line_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "training bc (torch): 0 of 300, loss …"
    monkeypatch.setattr("sys.executable", program(tmp_path, line, "exit 3"))
    with pytest.raises(RuntimeError, match=r"no line to stop at, but 'training bc .*: 0 of 300"):
        stopping.measure("train, images of 480×640", tmp_path)
