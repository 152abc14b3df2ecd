"""The laws of the table, which nothing breaks, and what counts as a hit."""

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
from counterbc.envs.air_hockey import world as table
from counterbc.envs.air_hockey.expert import expert
from counterbc.envs.air_hockey.picture import PADDLE_COLOR, PUCK_COLOR
from counterbc.envs.air_hockey.world import DT, FASTEST, FRICTION, LENGTH, TOUCH, WIDTH, Rally

Array = NDArray[Any]
RALLY = Rally()
AWAY = (0.2, 0.0)  # a paddle that is not in the way
unit = st.floats(0, 1)


def column(*values: float) -> Array:
    return np.array(values, float).reshape(-1, 1)


def glide(
    puck: tuple[float, ...],
    velocity: tuple[float, ...],
    paddle: tuple[float, ...] = AWAY,
    u: tuple[float, ...] = (0.0, 0.0),
    seconds: float = DT,
) -> tuple[Array, Array]:
    """One puck, without friction: where it is and how it moves after some seconds."""
    bodies = column(*puck, *velocity, *paddle, *u)
    table.glide(bodies, np.array([seconds]))
    return bodies[:2, 0], bodies[2:4, 0]


def state(
    puck: tuple[float, float], velocity: tuple[float, float], paddle: tuple[float, float] = AWAY
) -> Array:
    made = np.zeros((1, table.COLUMNS))
    made[0, :8] = [*paddle, *puck, *puck, *velocity]
    return made


def run(now: Array, steps: int, action: tuple[float, float] = (0, 0)) -> tuple[Array, float, bool]:
    """The state after some steps of one action, the sum of rewards, and whether it has ended."""
    total, ended = 0.0, False
    for _ in range(steps):
        now, reward, over = RALLY.advance(now, column(*action).T, np.zeros(1), np.zeros(1))
        total, ended = total + reward[0], bool(over[0])
    return now, total, ended


def speed(velocity: Array) -> Any:
    return np.hypot(velocity[..., 0], velocity[..., 1])


def test_friction_alone_takes_the_same_speed_each_second_and_the_way_is_exact() -> None:
    now, _, ended = run(state((0.8, -0.3), (0.6, 0.8)), 10)
    t = 10 * DT
    way = t - FRICTION * t**2 / 2
    np.testing.assert_allclose(now[0, table.AT_PUCK], [0.8 + 0.6 * way, -0.3 + 0.8 * way])
    np.testing.assert_allclose(now[0, table.AT_VELOCITY], np.array([0.6, 0.8]) * (1 - FRICTION * t))
    assert not ended


@pytest.mark.parametrize(
    ("puck", "velocity", "at", "after"),
    [
        # 0.02 to the wall at 2, then 0.04 s at 0.9 of that speed.
        ((LENGTH - 0.06, 0.0), (2.0, 0.5), (LENGTH - 0.112, 0.025), (-1.8, 0.5)),
        ((1.0, 0.34), (0.5, 2.0), (1.025, 0.288), (0.5, -1.8)),
        ((1.0, -0.34), (0.5, -2.0), (1.025, -0.288), (0.5, 1.8)),
        # The far corner: both walls at once.
        ((LENGTH - 0.06, 0.34), (2.0, 2.0), (LENGTH - 0.112, 0.288), (-1.8, -1.8)),
        # The near wall is padded: the puck stays where it touches it.
        ((0.06, 0.3), (-2.0, 0.5), (0.04, 0.305), (0.0, 0.0)),
    ],
    ids=["far", "left", "right", "corner", "near"],
)
def test_a_wall_reverses_its_part_of_the_normal_speed_and_keeps_the_rest(
    puck: tuple[float, ...], velocity: tuple[float, ...], at: tuple[float, ...], after: Any
) -> None:
    got = glide(puck, velocity)
    np.testing.assert_allclose(got[0], at, atol=1e-12)
    np.testing.assert_allclose(got[1], after, atol=1e-12)


@pytest.mark.parametrize(
    ("n", "velocity", "u", "after"),
    [
        # Head on: −1.6 towards the paddle, 0.8 away from it, which itself moves on at 0.6.
        ((1.0, 0.0), (-1.0, 0.4), (0.6, 0.0), (1.4, 0.4)),
        # A puck at rest.
        ((1.0, 0.0), (0.0, 0.0), (0.8, 0.0), (1.2, 0.0)),
        # Oblique: w = (−1.5, −1.5), w · n = −2.1, so w + 3.15 n = (0.39, 1.02).
        ((0.6, 0.8), (-1.0, -1.0), (0.5, 0.5), (0.89, 1.52)),
        # From behind, at a paddle that flees more slowly: w = (−1, 0) → (0.5, 0).
        ((1.0, 0.0), (-1.5, 0.0), (-0.5, 0.0), (0.0, 0.0)),
        # Too fast for the table: w = (−9, 0) → (4.5, 0), limited to 3.
        ((1.0, 0.0), (-8.0, 0.0), (1.0, 0.0), (4.0, 0.0)),
    ],
)
def test_a_moving_paddle_changes_the_velocity_by_the_law_in_its_own_frame(
    n: tuple[float, float], velocity: tuple[float, ...], u: tuple[float, ...], after: Any
) -> None:
    paddle = (0.4, 0.0)
    puck = (0.4 + TOUCH * n[0], TOUCH * n[1])
    _, got = glide(puck, velocity, paddle, u, 1e-6)
    np.testing.assert_allclose(got, after, atol=1e-12)


def test_contact_comes_at_its_own_time_within_a_step() -> None:
    # 0.03 apart and closing at 1.5: contact after 0.02 s at x = 0.41; then 0.03 s at 1.25.
    at, after = glide((0.43 + TOUCH, 0.1), (-1.0, 0.0), (0.4, 0.1), (0.5, 0.0))
    np.testing.assert_allclose(after, [1.25, 0.0], atol=1e-12)
    np.testing.assert_allclose(at, [0.41 + TOUCH + 0.03 * 1.25, 0.1], atol=1e-12)


@st.composite
def placed(draw: st.DrawFn) -> tuple[tuple[float, float], tuple[float, float]]:
    """A puck and a paddle that do not touch, each where it may be."""
    low, high = table.TABLE_LOW[:, 0], table.TABLE_HIGH[:, 0]
    puck = low + (high - low) * [draw(unit), draw(unit)]
    low, high = table.REACH_LOW[:, 0], table.REACH_HIGH[:, 0]
    paddle = low + (high - low) * [draw(unit), draw(unit)]
    away = puck - paddle
    if speed(away) < TOUCH:
        back = np.array([-1.0, away[1]]) if away[0] <= 0 else np.array([1.0, away[1]])
        puck = paddle + back / speed(back) * (TOUCH + 1e-6)
    return (puck[0], puck[1]), (paddle[0], paddle[1])


@given(placed(), st.floats(0, 2 * math.pi), st.floats(0, 4.4), st.floats(0, 0.5))
def test_a_resting_paddle_and_the_walls_never_add_energy(
    where: tuple[Any, Any], angle: float, fast: float, seconds: float
) -> None:
    velocity = (fast * math.cos(angle), fast * math.sin(angle))
    _, after = glide(where[0], velocity, where[1], seconds=seconds)
    assert speed(after) <= fast + 1e-12


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


@given(
    st.floats(0, 2 * math.pi), st.floats(-0.99, 0.99), st.floats(0.05, 1000), st.floats(-1, 1),
    st.floats(-1, 1),
)  # fmt: skip
def test_nothing_tunnels_through_the_paddle_at_any_speed(
    angle: float, offset: float, fast: float, u_x: float, u_y: float
) -> None:
    paddle, u = np.array([0.4, 0.0]), np.array([u_x, u_y])
    toward = np.array([math.cos(angle), math.sin(angle)])
    across = np.array([-toward[1], toward[0]])
    w = fast * toward  # in the paddle's frame, `offset` off its centre, in contact after 0.01 s
    meets = TOUCH * (offset * across - math.sqrt(1 - offset**2) * toward)
    start = paddle + meets - min(0.01 * fast, 0.03) * toward
    at, after = glide(tuple(start), tuple(w + u), tuple(paddle), tuple(u))
    assert not np.allclose(after - u, w)  # a puck that passed through would fly on as before
    assert math.dist(at, paddle + u * DT) >= TOUCH - 1e-9


@settings(max_examples=20, deadline=None)
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


def test_the_reach_leaves_the_puck_room_at_every_wall() -> None:
    near = table.REACH_LOW[0, 0] - table.PADDLE
    side = WIDTH / 2 - table.REACH_HIGH[1, 0] - table.PADDLE
    assert near == pytest.approx(2 * table.PUCK + table.ROOM)
    assert side == pytest.approx(2 * table.PUCK + table.ROOM)
    assert table.ROOM > 0


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
    one = state((0.7, 0.1), (2.0, 0.0))
    one[0, table.HITS] = 1  # and the second follows
    now, reward, _ = run(one, 4, (0.6, 0.8))  # 0.05 m each: 1 m/s for 0.2 s, within the reach
    assert reward == 1
    assert now[0, table.AT_PADDLE] == pytest.approx([0.32, 0.16])
    measured = {name: float(value[0]) for name, value in RALLY.measure(now).items()}
    expected = {"hits": 2, "distance_per_hit": 0.1, "time_per_hit": 0.1}
    assert measured == pytest.approx(expected)


def test_without_a_hit_the_measures_are_the_whole_way_and_time() -> None:
    now, _, _ = run(state((0.5, 0.3), (0.0, 0.0), (0.59, -0.1)), 2, (1.0, 1.0))
    measured = RALLY.measure(now)
    assert measured["hits"] == 0
    # Stopped by its reach, it goes 0.01 along x at first, then nothing.
    assert measured["distance_per_hit"] == pytest.approx(math.hypot(0.01, 0.05) + 0.05)
    assert measured["time_per_hit"] == pytest.approx(0.1)


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
    assert table.reachable(starts[:, table.AT_PUCK].T).all()
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


def test_frames_show_paddle_puck_and_its_way() -> None:
    env = make_vec("air-hockey", 2, render_mode="rgb_array")
    obs, _ = env.reset(seed=0)
    first: Any = env.render()
    for t in range(15):
        obs = env.step(expert(obs, np.arange(2), t))[0]
    later: Any = env.render()
    for old, new in zip(first, later, strict=True):
        assert new.shape == (352, 672, 3)
        assert new.dtype == np.uint8
        for color, least in ((PADDLE_COLOR, 2000), (PUCK_COLOR, 200)):
            assert (new == color).all(axis=2).sum() > least
        reddish = (new[..., 0] - new[..., 2].astype(int) > 20).sum()
        assert reddish > (old[..., 0] - old[..., 2].astype(int) > 20).sum() + 200  # the trail
