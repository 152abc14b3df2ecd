"""An interaction at the table: its laws, and what counts as a hit."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from counterbc.envs import WORLDS, make_vec
from counterbc.envs.air_hockey import physics, table
from counterbc.envs.air_hockey.expert import expert
from counterbc.envs.air_hockey.table import DT, FASTEST, FRICTION, LENGTH, TOUCH, WIDTH
from counterbc.envs.air_hockey.world import Rally

Array = NDArray[Any]
RALLY = Rally()
ASIDE = (0.2, 0.0)  # a paddle that is not in the way
unit = st.floats(0, 1)


def column(*values: float) -> Array:
    return np.array(values, float).reshape(-1, 1)


def state(
    puck: tuple[float, float], velocity: tuple[float, float], paddle: tuple[float, float] = ASIDE
) -> Array:
    columns = np.zeros((1, table.COLUMNS))
    columns[0, :8] = [*paddle, *puck, *puck, *velocity]
    return columns


def run(now: Array, steps: int, action: tuple[float, float] = (0, 0)) -> tuple[Array, float, bool]:
    """The state after some steps of one action, the sum of rewards, and whether it has ended."""
    total, is_over = 0.0, False
    for _ in range(steps):
        now, reward, over = RALLY.advance(now, column(*action).T, np.zeros(1), np.zeros(1))
        total, is_over = total + reward[0], bool(over[0])
    return now, total, is_over


def speed(velocity: Array) -> Any:
    return np.hypot(velocity[..., 0], velocity[..., 1])


def test_friction_alone_takes_the_same_speed_each_second_and_the_way_is_exact() -> None:
    now, _, is_over = run(state((0.8, -0.3), (0.6, 0.8)), 10)
    t = 10 * DT
    way = t - FRICTION * t**2 / 2
    np.testing.assert_allclose(now[0, table.AT_PUCK], [0.8 + 0.6 * way, -0.3 + 0.8 * way])
    np.testing.assert_allclose(now[0, table.AT_VELOCITY], np.array([0.6, 0.8]) * (1 - FRICTION * t))
    assert not is_over


@given(st.floats(-1, 1), st.floats(-1, 1), st.integers(0, 2**31), unit)
def test_energy_never_grows_where_the_paddle_does_not_reach(
    push_x: float, push_y: float, seed: int, share: float
) -> None:
    rng = np.random.default_rng(seed)
    x = 0.6 + TOUCH + 0.01 + share * (LENGTH - 0.8 - TOUCH)
    now = state((x, rng.uniform(-0.35, 0.35)), (0.0, 0.0), (0.5, 0.0))
    now[0, table.AT_VELOCITY] = rng.uniform(-2, 2, 2)
    before = speed(now[0, table.AT_VELOCITY])
    while now[0, 2] > 0.6 + TOUCH and before > 0:
        now, _, _ = run(now, 1, (push_x, push_y))
        after = speed(now[0, table.AT_VELOCITY])
        if now[0, 2] > 0.6 + TOUCH:
            assert after <= max(before - FRICTION * DT, 0) + 1e-12
        before = after


@settings(max_examples=20)
@given(st.integers(0, 2**31), st.floats(0, 1))
def test_puck_and_paddle_stay_apart_on_the_table_and_below_the_top_speed(
    seed: int, wild: float
) -> None:
    rng, count = np.random.default_rng(seed), 200
    now = RALLY.start(np.arange(count) + seed)
    now[:, table.AT_VELOCITY] = rng.uniform(-3, 3, (count, 2))
    side = rng.choice([-1.0, 1.0], (count, 2))
    for _ in range(60):
        chase = 20 * (now[:, table.AT_PUCK] - now[:, table.AT_PADDLE]) + 0.05 * side
        action = np.where(rng.random((count, 1)) < wild, rng.choice([-1.0, 1.0], (count, 2)), chase)
        now, _, _ = RALLY.advance(now, action, np.arange(count), np.zeros(count))
        for part, low, high in (
            (table.AT_PUCK, table.TABLE_LOW, table.TABLE_HIGH),
            (table.AT_PADDLE, table.REACH_LOW, table.REACH_HIGH),
        ):
            assert (now[:, part] >= low.T).all()
            assert (now[:, part] <= high.T).all()
        assert speed(now[:, table.AT_PUCK] - now[:, table.AT_PADDLE]).min() > TOUCH - 1e-9
        assert speed(now[:, table.AT_VELOCITY]).max() <= FASTEST + math.sqrt(2) + 1e-12


def test_a_paddle_that_presses_the_puck_to_a_wall_lets_it_rattle_there() -> None:
    now = state((0.4, 0.345), (0.0, 0.0), (0.4, 0.2))
    for _ in range(200):
        now, _, _ = run(now, 1, (0.0, 1.0))
        assert math.dist(now[0, table.AT_PUCK], now[0, table.AT_PADDLE]) > TOUCH - 1e-9
        assert now[0, 3] <= WIDTH / 2 - table.PUCK


def test_a_hit_carries_the_puck_over_the_centre_line_and_pays_one() -> None:
    struck, reward, _ = run(state((0.4, 0.0), (0.0, 0.0), (0.25, 0.0)), 12, (1.0, 0.0))
    assert reward == struck[0, table.HITS] == 1
    touched, reward, _ = run(state((0.4, 0.0), (0.0, 0.0), (0.25, 0.0)), 6, (0.3, 0.0))
    assert touched[0, table.AT_VELOCITY][0] > 0
    assert reward == touched[0, table.HITS] == 0


def test_measures_are_the_paddles_way_and_the_time_over_the_hits() -> None:
    start = state((0.7, 0.1), (2.0, 0.0))
    start[0, table.HITS] = 1  # and the second follows
    now, reward, _ = run(start, 4, (0.6, 0.8))  # 0.05 m each: 1 m/s for 0.2 s, within the reach
    assert reward == 1
    assert now[0, table.AT_PADDLE] == pytest.approx([0.32, 0.16])
    measures = {name: float(value[0]) for name, value in RALLY.measure(now).items()}
    expected_measures = {"hits": 2, "distance_per_hit": 0.1, "time_per_hit": 0.1}
    assert measures == pytest.approx(expected_measures)


def test_without_a_hit_the_measures_are_the_whole_way_and_time() -> None:
    now, _, _ = run(state((0.5, 0.3), (0.0, 0.0), (0.59, -0.1)), 2, (1.0, 1.0))
    measures = RALLY.measure(now)
    assert measures["hits"] == 0
    # Stopped by its reach, it goes 0.01 along x at first, then nothing.
    assert measures["distance_per_hit"] == pytest.approx(math.hypot(0.01, 0.05) + 0.05)
    assert measures["time_per_hit"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("puck", "velocity", "ends"),
    [
        ((0.9, 0.0), (0.0, 0.0), True),
        ((0.9, 0.0), (0.5, 0.0), False),  # out of reach, but not at rest
        ((0.72, 0.0), (0.0, 0.0), False),  # at rest, but in reach
        ((0.06, 0.3), (-2.0, 0.5), True),  # into the pad
        ((0.4, 0.345), (0.0, 0.0), True),  # beside the wall, beyond the paddle's side
        ((0.4, 0.335), (0.0, 0.0), False),
    ],
)
def test_an_interaction_ends_when_the_puck_rests_out_of_reach(
    puck: tuple[float, float], velocity: tuple[float, float], ends: bool
) -> None:
    assert run(state(puck, velocity), 1)[2] is ends


def test_an_interaction_starts_with_the_puck_at_rest_before_the_paddle() -> None:
    starts = RALLY.start(np.arange(2000))
    ahead = starts[:, table.AT_PUCK] - starts[:, table.AT_PADDLE]
    assert (starts[:, table.AT_BEFORE] == starts[:, table.AT_PUCK]).all()
    assert (starts[:, 6:] == 0).all()
    assert (ahead[:, 0] > TOUCH + 0.05).all()
    assert (ahead[:, 0] < TOUCH + 0.15).all()
    assert (abs(ahead[:, 1]) < 0.04).all()
    assert physics.reachable(starts[:, table.AT_PUCK].T).all()
    assert starts[:, :4].std(axis=0)[1:].min() > 0.02
    np.testing.assert_array_equal(starts[7], RALLY.start(np.array([7]))[0])


def test_a_policy_sees_where_the_puck_was_a_step_before() -> None:
    env = make_vec("air-hockey", 3)
    before, _ = env.reset(seed=0)
    for t in range(30):
        obs = env.step(expert(before, np.arange(3), t))[0]
        np.testing.assert_array_equal(obs[:, 4:], before[:, 2:4])
        before = obs
    assert (obs[:, 2:4] != obs[:, 4:]).any()


def test_time_runs_out_after_30_seconds() -> None:
    env = gymnasium.make(WORLDS["air-hockey"].id)
    env.reset(seed=0)
    ends = [env.step(np.zeros(2, np.float32))[2:4] for _ in range(600)]
    assert ends[-1] == (False, True)
    assert not any(truncated for _, truncated in ends[:-1])
