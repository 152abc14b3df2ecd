"""Jobs run in a process of their own, report, and can be stopped."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import pytest

from counterbc.data.waiting import POLICIES
from counterbc.errors import OptionError
from counterbc.studio.job import Job

PATIENCE = 120.0


def add(a: int, b: int, report: Any) -> tuple[int, int]:
    report("adding")
    return a + b, os.getpid()


def wait_policy(report: Any) -> str | None:
    return os.environ.get("OMP_WAIT_POLICY")


def refuse(report: Any) -> None:
    raise OptionError("this is refused; do that")


def break_down(report: Any) -> None:
    raise ZeroDivisionError("by zero")


def die(report: Any) -> None:
    os.kill(os.getpid(), 9)


def sleep(report: Any) -> None:
    report("asleep")
    time.sleep(1000)


class Outcome:
    """What a job calls back with."""

    def __init__(self) -> None:
        self.results: list[Any] = []
        self.failures: list[str] = []
        self.reports: list[Any] = []
        self.has_report = threading.Event()

    def start(self, function: Any, **arguments: Any) -> Job:
        def progress(value: Any) -> None:
            self.reports.append(value)
            self.has_report.set()

        return Job(
            function, arguments, done=self.results.append, failed=self.failures.append,
            progress=progress,
        )  # fmt: skip


def test_a_job_reports_and_returns_from_another_process() -> None:
    outcome = Outcome()
    outcome.start(add, a=2, b=3).wait(PATIENCE)
    ((total, process),) = outcome.results
    assert (total, outcome.reports, outcome.failures) == (5, ["adding"], [])
    assert process != os.getpid()


@pytest.mark.parametrize(("chosen", "policy"), [(None, "PASSIVE"), ("KMP_BLOCKTIME", None)])
def test_threads_of_a_job_wait_as_the_user_decided(
    monkeypatch: pytest.MonkeyPatch, chosen: str | None, policy: str | None
) -> None:
    for name in POLICIES:
        monkeypatch.delenv(name, raising=False)
    if chosen is not None:
        monkeypatch.setenv(chosen, "200")
    outcome = Outcome()
    outcome.start(wait_policy).wait(PATIENCE)
    assert (outcome.results, outcome.failures) == ([policy], [])


@pytest.mark.parametrize(
    ("function", "words"),
    [(refuse, "this is refused"), (break_down, "ZeroDivisionError: by zero"), (die, "stopped")],
)
def test_a_job_that_fails_says_why(function: Any, words: str) -> None:
    outcome = Outcome()
    outcome.start(function).wait(PATIENCE)
    assert outcome.results == []
    (failure,) = outcome.failures
    assert words in failure


def test_a_job_can_be_stopped_and_says_nothing_more() -> None:
    outcome = Outcome()
    job = outcome.start(sleep)
    assert outcome.has_report.wait(PATIENCE)
    before = job.is_running
    job.stop()
    assert (before, job.is_running) == (True, False)
    assert outcome.results == outcome.failures == []
