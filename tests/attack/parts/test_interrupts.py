"""A command that was interrupted says so, with the exit status of its signal."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from attack.part import Finding
from attack.parts import interrupts
from attack.processes import Ending
from attack.workload import commands


def test_cases_go_through_all_commands_and_both_signals() -> None:
    keys = interrupts.cases(200, 0)
    pairs = {tuple(key.split("/")[:2]) for key in keys}
    assert len(keys) == 200
    assert len(pairs) == 2 * len(commands(Path(), Path()))


@pytest.mark.parametrize(
    ("status", "text", "outcome"),
    [
        (1, "error: x is damaged\n", "wrong exit status"),
        (130, "", "bad message"),
        (130, "x may be damaged\nstopped\n", "bad message"),
        (130, "Traceback (most recent call last):\nKeyboardInterrupt\nstopped\n", "traceback"),
    ],
)
def test_other_endings_are_findings(status: int, text: str, outcome: str) -> None:
    with pytest.raises(Finding) as info:
        interrupts._check("x", Ending(status, text), signal.SIGINT)
    assert info.value.outcome == outcome


def test_a_clean_stop_is_none() -> None:
    interrupts._check("x", Ending(130, "warning: w\nstopped\n"), signal.SIGINT)
    interrupts._check("x", Ending(143, "stopped at step 3 of 9; to resume, …\n"), signal.SIGTERM)
