"""Readings and answers are checked for what would drive an arm blindly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.robots.decider import Decision
from counterbc.robots.faults import (
    ACTION,
    CAMERA,
    CLOCK,
    ENDED,
    LATE,
    OBSERVATION,
    POSITION,
    POSITION_CLOCK,
    STALLED,
    FaultCount,
    decision_fault,
    reading_fault,
)
from counterbc.robots.robot import Reading
from tests.robots.doubles import LIMITS, PERIOD, Bench


def reading(
    time: float = 1.0, value: float = 0.0, place: float = 0.0, *, position_time: float | None = None
) -> Reading:
    return Reading(np.array([0.0, value]), np.array([place]), time, position_time)


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
        (reading(position_time=0.96), ""),
        (reading(position_time=0.94), POSITION),
        (reading(position_time=float("nan")), POSITION),
        (reading(position_time=1.0005), ""),
        (reading(position_time=1.7e9), POSITION_CLOCK),
        (reading(0.94, position_time=0.94), CAMERA),
    ],
)
def test_a_reading_is_recent_and_finite_or_a_fault(seen: Reading | None, fault: str) -> None:
    assert reading_fault(seen, 1.0, 0.05) == fault


def test_an_answer_is_finite_or_a_fault() -> None:
    assert decision_fault(Decision(np.array([1.0]), 0.0), True) == ""
    assert decision_fault(Decision(np.array([np.inf]), 0.0), True) == ACTION
    assert decision_fault(None, True) == STALLED
    assert decision_fault(None, False) == ENDED


@pytest.mark.parametrize(
    ("pattern", "ending"),
    [
        ("....xxx", STALLED),
        ("xx.xx.x", f"{STALLED}; 3 of the last 4 ticks were faulty"),
        ("x.x.x", f"{STALLED}; 3 of the last 5 ticks were faulty"),
        ("x.x..x", f"{STALLED}; 3 of the last 6 ticks were faulty"),
        ("x...x..x...x..x", ""),
        ("xx...." * 4, ""),
    ],
)
def test_a_run_ends_after_some_faulty_ticks_in_a_row_or_among_twice_as_many(
    pattern: str, ending: str
) -> None:
    count = FaultCount(3)
    endings = [count.add(STALLED if mark == "x" else "") for mark in pattern]
    assert next((text for text in endings if text), "") == ending


def test_a_fault_that_does_not_pass_ends_a_run_at_once() -> None:
    assert FaultCount(10).add(ACTION) == ACTION
    assert FaultCount(10).add(STALLED) == ""


def test_a_fault_in_every_second_tick_ends_the_run() -> None:
    bench = Bench()
    answer = bench.policy.answer

    def stall(tick: int, until: float) -> Decision | None:
        if tick % 2:
            bench.clock.wait_until(until)
            return None
        return answer(tick, until)

    bench.policy.answer = stall  # type: ignore[method-assign]
    summary = bench.loop.run(10.0)
    assert summary["ended"] == "policy stalled; 10 of the last 20 ticks were faulty"
    assert summary["ticks"] == 20


def test_a_position_that_grows_old_stops_the_arm_within_two_periods_beside_new_pictures() -> None:
    bench = Bench()
    see = bench.robot.observe

    def repeat() -> Reading | None:
        reading = see()
        assert reading is not None
        return replace(reading, position_time=min(bench.clock.now(), 100.42))

    bench.robot.observe = repeat  # type: ignore[method-assign]
    summary = bench.loop.run(3.0)
    assert summary["faults"] == {POSITION: 10}
    assert bench.robot.commands
    assert bench.robot.stands_from() - 100.42 <= 2 * PERIOD + 1e-9


def test_an_arm_that_stopped_by_itself_speeds_up_from_0() -> None:
    bench = Bench()
    bench.policy.act = lambda now: np.array([0.9, 0.0])
    wait, answer = bench.clock.wait_until, bench.policy.answer

    def late(due: float) -> None:
        wait(due + 0.48 * PERIOD * (abs(due - 100.5) < 1e-9))  # the watchdog does not act yet

    def slow(tick: int, until: float) -> Decision | None:
        bench.clock.time += 0.57 * PERIOD * (abs(until - 100.554) < 1e-9)  # within the budget
        return answer(tick, until)

    bench.clock.wait_until = late  # type: ignore[method-assign]
    bench.policy.answer = slow  # type: ignore[method-assign]
    summary = bench.loop.run(1.0)
    assert (summary["faults"], summary["watchdog_stops"]) == ({LATE: 1}, 0)
    number = next(tick.tick for tick in bench.log.ticks if tick.fault)
    speeds = [tick.velocity[0] for tick in bench.log.ticks[number - 1 : number + 2]]
    assert speeds == pytest.approx([0.9, 0.0, LIMITS.acceleration * PERIOD])
