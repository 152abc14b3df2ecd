"""Commands in processes of their own are waited for, interrupted, and judged by their output."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from attack import processes
from attack.part import Finding
from attack.processes import Ending, Process


def test_a_fork_runs_a_command_and_keeps_what_it_prints(tmp_path: Path) -> None:
    ending = processes.run(["inspect", tmp_path / "nothing.npz"], tmp_path / "log")
    assert ending.status == 1
    assert ending.last_line.startswith("error: ")
    ending.check_text()


def test_a_fork_can_be_killed(tmp_path: Path) -> None:
    def wait() -> None:
        signal.pause()

    process = Process(["inspect"], tmp_path / "log", prepare=wait)
    process.signal(signal.SIGKILL)
    assert process.wait().status == -signal.SIGKILL
    process.signal(signal.SIGKILL)  # it is gone, which does not matter


def test_a_process_without_end_is_a_finding(tmp_path: Path) -> None:
    process = Process(["inspect"], tmp_path / "log", prepare=signal.pause)
    with pytest.raises(Finding, match="hang"):
        process.wait(0.2)


def test_a_traceback_and_a_crash_are_findings() -> None:
    Ending(1, "error: x").check_text()
    with pytest.raises(Finding, match="traceback"):
        Ending(1, "Traceback (most recent call last):\nValueError: x").check_text()
    with pytest.raises(Finding, match="crash"):
        Ending(-signal.SIGSEGV, "").check_text()


def test_hidden_files_are_leftovers_except_for_the_claims_of_a_study(tmp_path: Path) -> None:
    processes.clear(tmp_path / "out")
    (tmp_path / "out" / ".x.12345678").mkdir()
    (tmp_path / "out" / ".claims").touch()
    (tmp_path / "out" / "x").touch()
    assert processes.leftovers(tmp_path / "out") == [".x.12345678"]
    processes.clear(tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []
