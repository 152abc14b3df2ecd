"""No sequence of wanted velocities, however wild, leads to a command beyond the limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterbc.acting.clock import Clock
from counterbc.data.arrays import Array
from counterbc.errors import DataError, OptionError
from counterbc.robots.decider import Decision
from counterbc.robots.faults import LATE, STALLED
from counterbc.robots.limits import Limiter, Limits
from counterbc.robots.loop import Loop
from tests.robots.doubles import Bench, PointRobot

PERIOD = 0.05
LIMITS = Limits(low=(0.2, -0.2), high=(0.6, 0.2), speed=1.0, acceleration=13.0, response=0.0)
ARMS, STEPS = 1000, 1000
ROUNDING = 1e-12


def wild(rng: np.random.Generator, step: int) -> Array:
    """Return wanted velocities (ARMS, 2): ordinary ones, reversals, huge, infinite and NaN."""
    values = rng.normal(size=(ARMS, 2)) * rng.choice([0.1, 1.0, 10.0, 1e6, 1e300], (ARMS, 1))
    values[: ARMS // 4] = (-1.0) ** (step // rng.integers(1, 9, (ARMS // 4, 1))) * 5
    odd = rng.random((ARMS, 2)) < 0.01
    values[odd] = rng.choice([np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 0.0], odd.sum())
    return np.asarray(values)


def test_a_million_random_steps_stay_within_every_limit() -> None:
    rng = np.random.default_rng(0)
    limiter = Limiter(LIMITS, PERIOD)
    position = rng.uniform(LIMITS.low, LIMITS.high, (ARMS, 2))
    last = np.zeros((ARMS, 2))
    for step in range(STEPS):
        wanted = wild(rng, step)
        velocity = limiter.limit(wanted, position)
        assert np.isfinite(velocity).all()
        assert (np.abs(velocity) <= LIMITS.speed).all()
        usable = np.isfinite(wanted)  # a number that is none stops the axis at once
        change = np.abs(velocity - last)[usable]
        assert (change <= LIMITS.acceleration * PERIOD + ROUNDING).all()
        assert (velocity[~usable] == 0).all()
        position = position + velocity * PERIOD
        assert (position >= np.array(LIMITS.low) - ROUNDING).all()
        assert (position <= np.array(LIMITS.high) + ROUNDING).all()
        last = velocity


@pytest.mark.parametrize("limit", [13.0, 13.0 / np.sqrt(2)])
def test_two_axes_at_once_change_by_up_to_the_root_of_two_times_the_limit(limit: float) -> None:
    limits = Limits(low=(-9.0, -9.0), high=(9.0, 9.0), acceleration=limit)
    limiter, rng, last, largest = (
        Limiter(limits, PERIOD),
        np.random.default_rng(4),
        np.zeros(2),
        0.0,
    )
    for _ in range(2000):
        velocity = limiter.limit(5 * rng.normal(size=2), np.zeros(2))
        largest = max(largest, float(np.linalg.norm(velocity - last)) / PERIOD)
        last = velocity
    assert largest == pytest.approx(np.sqrt(2) * limit)


def test_a_loop_that_hangs_for_two_periods_leaves_room_to_brake() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        limiter = Limiter(LIMITS, PERIOD)
        position = rng.uniform(LIMITS.low, LIMITS.high, (ARMS, 2))
        limiter.velocity = rng.uniform(-1, 1, (ARMS, 2))
        velocity = limiter.limit(rng.normal(size=(ARMS, 2)), position)
        reach = velocity * 2 * PERIOD + velocity * np.abs(velocity) / (2 * LIMITS.acceleration)
        assert (position + reach >= np.array(LIMITS.low) - ROUNDING).all()
        assert (position + reach <= np.array(LIMITS.high) + ROUNDING).all()


def test_positions_that_jump_or_are_not_finite_never_lead_to_a_command_beyond_speed() -> None:
    rng = np.random.default_rng(1)
    limiter = Limiter(LIMITS, PERIOD)
    for step in range(200):
        position = rng.uniform(-1, 2, (ARMS, 2))
        position[rng.random((ARMS, 2)) < 0.05] = rng.choice([np.nan, np.inf, -np.inf, 1e300])
        velocity = limiter.limit(wild(rng, step), position, age=0.05)
        assert np.isfinite(velocity).all()
        assert (np.abs(velocity) <= LIMITS.speed).all()
        assert (velocity[position > np.array(LIMITS.high)] <= 0).all()
        assert (velocity[position < np.array(LIMITS.low)] >= 0).all()
        assert (velocity[~np.isfinite(position)] == 0).all()


def test_an_arm_that_follows_late_brakes_in_front_of_the_workspace() -> None:
    limits = Limits(low=LIMITS.low, high=LIMITS.high, response=0.02)
    limiter, position, speed = Limiter(limits, PERIOD), np.array([0.3, 0.0]), np.zeros(2)
    for step in range(400):
        wanted = np.array([1.0, -1.0]) * (-1) ** (step // 40)
        command = limiter.limit(wanted, position)
        for _ in range(20):  # a first-order response with a time constant of 20 ms
            speed += (command - speed) * 0.0025 / 0.02
            position = position + speed * 0.0025
        assert (position >= np.array(limits.low) - 0.004).all()
        assert (position <= np.array(limits.high) + 0.004).all()


def test_a_halt_is_not_limited_by_acceleration() -> None:
    limiter = Limiter(LIMITS, PERIOD)
    limiter.limit(np.array([1.0, 1.0]), np.array([0.4, 0.0]))
    assert limiter.halt().tolist() == [0, 0]
    assert limiter.velocity.tolist() == [0, 0]


def test_a_velocity_within_the_limits_is_not_changed() -> None:
    limiter = Limiter(LIMITS, PERIOD)
    assert limiter.limit(np.array([0.3, -0.1]), np.array([0.4, 0.0])).tolist() == [0.3, -0.1]


@pytest.mark.parametrize(
    "fields",
    [
        {"low": (0, 0), "high": (0, 1)},
        {"low": (0, np.nan), "high": (1, 1)},
        {"low": (0, 0), "high": (1, 1), "speed": 0},
        {"low": (0, 0), "high": (1, 1), "acceleration": np.inf},
        {"low": (0, 0), "high": (1, 1), "response": -1},
    ],
)
def test_limits_that_limit_nothing_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(OptionError, match="give"):
        Limits(**fields)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("velocity", "position"),
    [((1,), (2,)), ((2,), (1,)), ((3,), (3,)), ((4, 1), (4, 2)), ((), (2,))],
)
def test_other_numbers_of_axes_than_the_workspace_has_are_refused(
    velocity: tuple[int, ...], position: tuple[int, ...]
) -> None:
    limiter = Limiter(LIMITS, PERIOD)
    with pytest.raises(DataError, match=r"2 numbers each.*; check"):
        limiter.limit(np.full(velocity, 0.3), np.full(position, 0.3))
    assert limiter.velocity.tolist() == [0, 0]


def test_a_policy_for_another_number_of_axes_is_refused() -> None:
    bench = Bench()
    bench.policy.action_size = 1
    message = "the policy gives 1 number, the arm moves along 2 axes; give a policy"
    with pytest.raises(OptionError, match=message):
        bench.loop.run(1.0)
    with pytest.raises(OptionError, match=message):
        Loop(bench.robot, bench.policy, bench.log, clock=bench.clock)
    assert not bench.robot.commands


def test_an_action_of_another_size_than_the_policy_says_moves_no_axis() -> None:
    bench = Bench()
    bench.policy.act = lambda now: np.array([0.3])
    assert "(1,)" in bench.loop.run(1.0)["ended"]
    assert not bench.robot.commands
    assert bench.robot.stops


class RecordingRobot(PointRobot):
    """A robot that keeps each command with the velocity before it, and every position."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.changes: list[tuple[Array, Array]] = []
        self.positions: list[Array] = []

    def command(self, velocity: Array) -> None:
        self._move(self.clock.now())
        before = self.velocity
        super().command(velocity)
        self.changes.append((before, velocity))

    def _move(self, now: float) -> None:
        super()._move(now)
        self.positions.append(self.position)


def drive(seed: int, ticks: int, is_busy: bool) -> tuple[RecordingRobot, dict[str, Any]]:
    """Run a loop with wild actions, and a policy that stalls; a busy machine is late as well."""
    rng = np.random.default_rng(seed)
    actions = rng.normal(size=(ticks + 1, 2)) * rng.choice([0.1, 1, 10, 1e6, 1e300], (ticks + 1, 1))
    actions = np.repeat(actions, rng.integers(1, 40), 0)  # held, so that sides are reached
    dice, delays = rng.random(ticks + 1), rng.exponential(0.03, ticks + 1)
    bench = Bench(patience=10**7)
    bench.loop.robot = robot = RecordingRobot(bench.clock)

    def answer(tick: int, until: float) -> Decision | None:
        if dice[tick] < 0.02:
            bench.clock.wait_until(until)
            return None
        if is_busy and dice[tick] < 0.04:
            bench.clock.time += delays[tick]
        is_in_time = bench.clock.now() <= until or dice[tick] < 0.03  # or the loop froze after it
        return Decision(actions[tick], 0.0) if is_in_time else None

    bench.policy.answer = answer  # type: ignore[method-assign]
    return robot, bench.loop.run(ticks * PERIOD)


@pytest.mark.slow
@pytest.mark.parametrize("is_busy", [False, True])
def test_the_loop_stays_within_every_limit_for_half_a_million_ticks(is_busy: bool) -> None:
    limits, count = PointRobot.limits, 0
    for seed in range(10):
        robot, summary = drive(seed, 50_000, is_busy)
        count += summary["ticks"] + summary["missed"]
        assert summary["ended"] == "finished"
        assert set(summary["faults"]) == ({STALLED, LATE} if is_busy else {STALLED})
        assert (summary["watchdog_stops"] > 0) == is_busy
        before, velocity = np.array(robot.changes).swapaxes(0, 1)  # (n, 2) each
        assert len(velocity) > 40_000
        assert np.abs(velocity).max() == limits.speed, "reached, and never exceeded"
        assert_acceleration(before, velocity, is_busy)
        reach = np.abs(robot.positions).max(0) - np.array(limits.high)
        assert (reach <= ROUNDING).all()
        assert (reach > -0.05).any(), "a side of the workspace was reached"
    assert count >= 500_000


def assert_acceleration(before: Array, velocity: Array, is_busy: bool) -> None:
    """Check changes of speed; only braking after a late tick may be harder, for the workspace."""
    change, limit = np.abs(velocity - before), PointRobot.limits.acceleration * PERIOD
    is_braking = (velocity * before >= 0) & (np.abs(velocity) < np.abs(before))
    assert change[~is_braking].max() == pytest.approx(limit, abs=ROUNDING)
    is_harder = change > limit + ROUNDING
    assert is_harder.mean() < (1e-3 if is_busy else 1e-12)
