"""Jobs run in worker processes, and their errors arrive here as they are."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from multiprocessing import resource_tracker
from typing import Any
from unittest.mock import patch

import pytest

from counterbc.errors import CounterBCError, OptionError
from counterbc.experiments.workers import WorkerProgress, _start_silent_tracker, run_all
from counterbc.kernels.compiling import MESSAGE, announce_compiling
from counterbc.training.network_stack import NetworkStack
from counterbc.training.session import current_session
from tests.experiments.cells import TINY


def _square(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def _fail() -> None:
    raise OptionError("this job cannot run")


def _die() -> None:
    os._exit(9)


def _train(name: str) -> str:
    """Train as a method of the demo does whose step is compiled; return what is said of an hour."""
    take_steps = NetworkStack.steps

    def compile_and_take_steps(*arguments: Any) -> None:
        announce_compiling()
        take_steps(*arguments)

    with patch.object(NetworkStack, "steps", compile_and_take_steps):
        TINY.rows("cpu", WorkerProgress(name))
    return current_session().announcement(3600)


def test_every_job_runs_once_and_in_another_process() -> None:
    results: dict[str, tuple[int, int]] = {}
    jobs = {str(n): partial(_square, n) for n in range(3)}
    run_all(jobs, results.__setitem__, max_workers=1, bars=False)
    assert {name: square for name, (square, _) in results.items()} == {"0": 0, "1": 1, "2": 4}
    assert os.getpid() not in {process for _, process in results.values()}


def test_an_error_of_a_job_is_raised_as_it_is() -> None:
    with pytest.raises(OptionError, match="this job cannot run"):
        run_all({"a": _fail}, lambda *_: None)


def test_a_line_that_all_workers_announce_is_printed_once_and_no_estimate_of_one_job(
    capsys: pytest.CaptureFixture[str],
) -> None:
    estimates: dict[str, str] = {}
    run_all({name: partial(_train, name) for name in "ab"}, estimates.__setitem__, max_workers=2)
    assert capsys.readouterr().err.count(MESSAGE) == 1
    assert estimates == {"a": "", "b": ""}


def test_a_worker_that_dies_is_explained() -> None:
    message = "worker process died, perhaps for lack of memory .* or .* if __name__ == "
    with pytest.raises(CounterBCError, match=message):
        run_all({"a": _die}, lambda *_: None, bars=False)


def test_semaphores_of_a_command_that_ends_at_once_are_removed_without_a_word() -> None:
    code = """
import os
from counterbc.experiments.workers import run_all
run_all({"a": os.getpid}, lambda *_: os._exit(3), bars=False)
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (3, "")


def test_what_others_write_while_workers_start_is_not_lost(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def write_meanwhile() -> None:
        os.write(2, b"a line of another thread")

    monkeypatch.setattr(resource_tracker, "ensure_running", write_meanwhile)
    options = list(sys.warnoptions)
    _start_silent_tracker()
    assert capfd.readouterr().err == "a line of another thread"
    assert sys.warnoptions == options


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_workers_run_without_a_stderr() -> None:
    code = """
import os
from counterbc.experiments.workers import run_all
run_all({"a": os.getpid}, lambda name, _: print(name), bars=False)
"""
    command = ["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, code]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    assert (process.returncode, process.stdout) == (0, "a\n")
