"""Jobs run in worker processes, and their errors arrive here as they are."""

from __future__ import annotations

import os
from functools import partial

import pytest

from counterbc.errors import CounterBCError, OptionError
from counterbc.experiments.workers import run_all


def _square(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def _fail() -> None:
    raise OptionError("this job cannot run")


def _die() -> None:
    os._exit(9)


def test_every_job_runs_once_and_in_another_process() -> None:
    results: dict[str, tuple[int, int]] = {}
    jobs = {str(n): partial(_square, n) for n in range(3)}
    run_all(jobs, results.__setitem__, max_workers=1, bars=False)
    assert {name: square for name, (square, _) in results.items()} == {"0": 0, "1": 1, "2": 4}
    assert os.getpid() not in {process for _, process in results.values()}


def test_an_error_of_a_job_is_raised_as_it_is() -> None:
    with pytest.raises(OptionError, match="this job cannot run"):
        run_all({"a": _fail}, lambda *_: None)


def test_a_worker_that_dies_is_explained() -> None:
    message = "worker process died, perhaps for lack of memory .* or .* if __name__ == "
    with pytest.raises(CounterBCError, match=message):
        run_all({"a": _die}, lambda *_: None, bars=False)
