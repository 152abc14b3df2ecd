"""Readings and answers are checked for what would drive an arm blindly."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.robots.decider import Decision
from counterbc.robots.faults import (
    ACTION,
    CAMERA,
    CLOCK,
    ENDED,
    OBSERVATION,
    STALLED,
    decision_fault,
    reading_fault,
)
from counterbc.robots.robot import Reading


def reading(time: float = 1.0, value: float = 0.0, place: float = 0.0) -> Reading:
    return Reading(np.array([0.0, value]), np.array([place]), time)


@pytest.mark.parametrize(
    ("seen", "fault"),
    [
        (None, CAMERA),
        (reading(), ""),
        (reading(0.94), CAMERA),
        (reading(float("nan")), CAMERA),
        (reading(1.0005), ""),
        (reading(1.01), CLOCK),
        (reading(1.7e9), CLOCK),  # of time.time()
        (reading(value=float("nan")), OBSERVATION),
        (reading(place=float("inf")), OBSERVATION),
    ],
)
def test_a_reading_is_recent_and_finite_or_a_fault(seen: Reading | None, fault: str) -> None:
    assert reading_fault(seen, 1.0, 0.05) == fault


def test_an_answer_is_finite_or_a_fault() -> None:
    assert decision_fault(Decision(np.array([1.0]), 0.0), True) == ""
    assert decision_fault(Decision(np.array([np.inf]), 0.0), True) == ACTION
    assert decision_fault(None, True) == STALLED
    assert decision_fault(None, False) == ENDED
