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
        if check.is_still(position):
            return tick
        check.add(np.array(velocity))
        position = position + np.array(move) * velocity * PERIOD
    return -1


@pytest.mark.parametrize(
    ("speed", "tick"),
    [(1.0, 4), (0.3, 4), (0.11, 6), (0.011, 55), (-0.11, 6)],  # 4 ticks and more than 3 cm
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
    for _ in range(10):
        results.append(check.is_still(rng.uniform(0, 0.0009, 1)))
        check.add(np.array([0.11]))
    assert results == [False] * 6 + [True] * 4


def test_an_arm_that_answers_after_three_periods_is_no_fault() -> None:
    check, places = MotionCheck(PERIOD, 1), [0.0, 0.0, 0.0, 0.05, 0.1, 0.15, 0.2]
    for place in places:
        assert not check.is_still(np.array([place]))
        check.add(np.array([1.0]))
    assert PERIOD > TRAVEL, "one tick leads far enough"


def test_positions_of_another_size_are_for_the_limiter_to_refuse() -> None:
    assert not MotionCheck(PERIOD, 2).is_still(np.zeros(3))


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
