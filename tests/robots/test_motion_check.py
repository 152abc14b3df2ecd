"""A position that stands still while the arm is commanded to move is noticed, axis by axis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.robots.faults import STILL
from counterbc.robots.motion_check import TRAVEL, MotionCheck
from counterbc.robots.robot import Reading
from tests.robots.doubles import Bench

PERIOD = 0.05


def ticks_until_still(velocities: list[tuple[float, float]], move: tuple[float, float]) -> int:
    """Return the tick at which the check notices an arm that moves a share of its commands."""
    check, position = MotionCheck(PERIOD, 2), np.array([0.3, 0.1])
    for tick, velocity in enumerate(velocities):
        if check.is_still(position, tick * PERIOD):
            return tick
        check.add(np.array(velocity), tick * PERIOD)
        position = position + np.array(move) * velocity * PERIOD
    return -1


@pytest.mark.parametrize(
    ("speed", "tick"),
    [(1.0, 4), (0.31, 5), (0.11, 9), (0.011, 58), (-0.11, 9)],  # 4 readings beyond 3 cm
)
def test_a_frozen_axis_is_noticed_beside_one_that_moves(speed: float, tick: int) -> None:
    assert ticks_until_still([(0.2, speed)] * 100, (1.0, 0.0)) == tick
    assert ticks_until_still([(speed, 0.2)] * 100, (0.0, 1.0)) == tick


def test_an_arm_that_moves_is_no_fault_however_slowly() -> None:
    for speed in (1.0, 0.1, 0.005):
        assert ticks_until_still([(speed, -speed)] * 1000, (1.0, 0.5)) == -1


def test_commands_that_cancel_or_are_0_are_no_fault() -> None:
    there_and_back = [(0.2, 0.2), (-0.2, -0.2)] * 200
    assert ticks_until_still(there_and_back, (0.0, 0.0)) == -1
    assert ticks_until_still([(0.0, 0.0)] * 200, (0.0, 0.0)) == -1


def test_noise_below_the_resolution_is_no_motion() -> None:
    check, rng = MotionCheck(PERIOD, 1), np.random.default_rng(0)
    results = []
    for tick in range(12):
        results.append(check.is_still(rng.uniform(0, 0.0009, 1), tick * PERIOD))
        check.add(np.array([0.11]), tick * PERIOD)
    assert results == [False] * 9 + [True] * 3


def test_an_arm_that_answers_after_three_periods_is_no_fault() -> None:
    check, places = MotionCheck(PERIOD, 1), [0.0, 0.0, 0.0, 0.05, 0.1, 0.15, 0.2]
    for tick, place in enumerate(places):
        assert not check.is_still(np.array([place]), tick * PERIOD)
        check.add(np.array([1.0]), tick * PERIOD)
    assert PERIOD > TRAVEL, "one tick leads far enough"


def test_positions_of_another_size_are_for_the_limiter_to_refuse() -> None:
    assert not MotionCheck(PERIOD, 2).is_still(np.zeros(3), 0.0)


def test_a_command_counts_for_as_long_as_it_holds() -> None:
    check = MotionCheck(PERIOD, 1)
    check.is_still(np.zeros(1), 0.0)
    check.add(np.array([0.2]), 0.0)
    results = [check.is_still(np.zeros(1), 10.0 + tick) for tick in range(6)]
    assert results == [False] * 6, "the arm stopped by itself after 2 cm"
    check.add(np.array([1.0]), 20.0)
    results = [check.is_still(np.zeros(1), 20.001 + tick / 1000) for tick in range(9)]
    assert results == [False] * 9, "a tick that follows at once sees no motion yet"
    results = [check.is_still(np.zeros(1), 20.05 + tick * PERIOD) for tick in range(4)]
    assert results == [False] * 3 + [True]


def test_a_reversal_at_a_side_after_a_late_tick_is_no_fault() -> None:
    check, place = MotionCheck(PERIOD, 1), 0.499
    check.is_still(np.array([place]), 0.0)
    for tick in range(1, 30):  # creeps by less than the resolution
        place += 0.00099 / 29
        assert not check.is_still(np.array([place]), tick * PERIOD)
        check.add(np.array([0.00099 / 29 / PERIOD]), tick * PERIOD)
    check.add(np.array([-0.65]), 30 * PERIOD + 0.0477)
    assert not check.is_still(np.array([place - 0.0015]), 30 * PERIOD + 0.05)


@pytest.mark.parametrize("rows", [slice(0, 2), slice(0, 1), slice(1, 2)], ids=["xy", "x", "y"])
def test_a_frozen_position_ends_the_run_before_the_arm_leaves_its_workspace(rows: slice) -> None:
    bench = Bench()
    bench.policy.act = lambda now: np.array([1.0, 1.0])
    see = bench.robot.observe

    def freeze() -> Reading | None:
        reading = see()
        assert reading is not None
        position = reading.position.copy()
        position[rows] = 0.0
        return replace(reading, position=position)

    bench.robot.observe = freeze  # type: ignore[method-assign]
    summary = bench.loop.run(10.0)
    assert summary["ended"] == STILL
    assert (np.abs(bench.robot.position) <= 0.25).all(), "the workspace begins at 0.5"
