"""The laws of contact, which nothing breaks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from counterbc.envs.air_hockey import physics, table
from counterbc.envs.air_hockey.table import DT, LENGTH, TOUCH

Array = NDArray[Any]
ASIDE = (0.2, 0.0)  # a paddle that is not in the way
unit = st.floats(0, 1)


def column(*values: float) -> Array:
    return np.array(values, float).reshape(-1, 1)


def glide(
    puck: tuple[float, ...],
    velocity: tuple[float, ...],
    paddle: tuple[float, ...] = ASIDE,
    u: tuple[float, ...] = (0.0, 0.0),
    seconds: float = DT,
) -> tuple[Array, Array]:
    """One puck, without friction: where it is and how it moves after some seconds."""
    bodies = column(*puck, *velocity, *paddle, *u)
    physics.glide(bodies, np.array([seconds]))
    return bodies[:2, 0], bodies[2:4, 0]


def speed(velocity: Array) -> Any:
    return np.hypot(velocity[..., 0], velocity[..., 1])


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
    new_puck = glide(puck, velocity)
    np.testing.assert_allclose(new_puck[0], at, atol=1e-12)
    np.testing.assert_allclose(new_puck[1], after, atol=1e-12)


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
    _, new_velocity = glide(puck, velocity, paddle, u, 1e-6)
    np.testing.assert_allclose(new_velocity, after, atol=1e-12)


def test_contact_comes_at_its_own_time_within_a_step() -> None:
    # 0.03 apart and closing at 1.5: contact after 0.02 s at x = 0.41; then 0.03 s at 1.25.
    at, after = glide((0.43 + TOUCH, 0.1), (-1.0, 0.0), (0.4, 0.1), (0.5, 0.0))
    np.testing.assert_allclose(after, [1.25, 0.0], atol=1e-12)
    np.testing.assert_allclose(at, [0.41 + TOUCH + 0.03 * 1.25, 0.1], atol=1e-12)


@st.composite
def placements(draw: st.DrawFn) -> tuple[tuple[float, float], tuple[float, float]]:
    """A puck and a paddle that do not touch, each where it may be."""
    low, high = table.TABLE_LOW[:, 0], table.TABLE_HIGH[:, 0]
    puck = low + (high - low) * [draw(unit), draw(unit)]
    low, high = table.REACH_LOW[:, 0], table.REACH_HIGH[:, 0]
    paddle = low + (high - low) * [draw(unit), draw(unit)]
    gap = puck - paddle
    if speed(gap) < TOUCH:
        back = np.array([-1.0, gap[1]]) if gap[0] <= 0 else np.array([1.0, gap[1]])
        puck = paddle + back / speed(back) * (TOUCH + 1e-6)
    return (puck[0], puck[1]), (paddle[0], paddle[1])


@given(placements(), st.floats(0, 2 * math.pi), st.floats(0, 4.4), st.floats(0, 0.5))
def test_a_resting_paddle_and_the_walls_never_add_energy(
    placement: tuple[Any, Any], angle: float, fast: float, seconds: float
) -> None:
    velocity = (fast * math.cos(angle), fast * math.sin(angle))
    _, after = glide(placement[0], velocity, placement[1], seconds=seconds)
    assert speed(after) <= fast + 1e-12


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
