"""A log survives the death of its process, and a torn line at its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from counterbc.errors import FormatError
from counterbc.robots.tick_log import Tick, TickLog, read_log


def tick(number: int) -> Tick:
    return Tick(
        tick=number, due=0.0, late=0.0, age=None, inference=None, round_trip=None, latency=None,
        sent=0.0, jitter=0.0, missed=0, action=(float("nan"), 1.0), velocity=(0.0, 0.0),
        position=None, fault="action not finite",
    )  # fmt: skip


def test_header_ticks_and_summary_are_read_back(tmp_path: Path) -> None:
    with TickLog(tmp_path / "run.jsonl", {"rate": 20}) as log:
        log.add(tick(0))
        log.add(tick(1))
        log.finish({"ended": "finished"})
    header, ticks, summary = read_log(tmp_path / "run.jsonl")
    assert header == {"rate": 20}
    assert [t["tick"] for t in ticks] == [0, 1]
    assert ticks[0]["action"] == [None, 1.0]  # JSON has no NaN
    assert summary is not None
    assert summary["ended"] == "finished"


def test_all_ticks_before_a_kill_are_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    code = (
        "import os, sys, signal; from pathlib import Path\n"
        "from tests.robots.test_tick_log import tick, TickLog\n"
        "log = TickLog(Path(sys.argv[1]), {})\n"
        "for i in range(50): log.add(tick(i))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run([sys.executable, "-c", code, path], env=environment)
    assert result.returncode == -signal.SIGKILL
    _, ticks, summary = read_log(path)
    assert (len(ticks), summary) == (50, None)


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with TickLog(path, {}) as log:
        log.add(tick(0))
        log.add(tick(1))
    path.write_bytes(path.read_bytes()[:-30])
    assert [t["tick"] for t in read_log(path)[1]] == [0]


def test_a_line_that_is_taken_in_parts_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, content[:7]))
    with TickLog(tmp_path / "run.jsonl", {"rate": 20}) as log:
        log.add(tick(0))
    header, ticks, _ = read_log(tmp_path / "run.jsonl")
    assert (header, len(ticks)) == ({"rate": 20}, 1)


def test_a_log_is_no_program(tmp_path: Path) -> None:
    with TickLog(tmp_path / "run.jsonl", {}):
        assert not os.access(tmp_path / "run.jsonl", os.X_OK)


def test_a_log_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text("precious")
    with pytest.raises(FormatError, match="already exists"):
        TickLog(tmp_path / "run.jsonl", {})


@pytest.mark.parametrize("content", [b"", b"{}\n", b'{"kind": "header"}\nnonsense\n'])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(content)
    with pytest.raises(FormatError):
        read_log(tmp_path / "x.jsonl")
