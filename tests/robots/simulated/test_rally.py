"""The puck of the simulated arm moves as in the air hockey world."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.envs.air_hockey.table import CENTRE, DT, LENGTH
from counterbc.envs.air_hockey.world import Rally
from counterbc.robots.simulated.rally import SimulatedRally


def test_with_the_worlds_own_steps_the_puck_is_where_the_world_has_it() -> None:
    rally = SimulatedRally(0)
    state = np.zeros((1, 11))
    state[0, :6] = [*rally.paddle, *rally.puck, *rally.puck]
    world, rng = Rally(), np.random.default_rng(0)
    for t in range(200):
        action = np.clip(rng.normal([0.2 * (-1) ** (t // 10), 0], 0.7, (1, 2)), -1, 1)
        state, _, _ = world.advance(state, action, np.zeros(1, np.int64), np.array([t]))
        rally.advance(state[0, :2].copy(), DT)
        assert rally.puck == pytest.approx(state[0, 2:4], abs=1e-9)
    assert rally.hits == state[0, 8]
    assert rally.path == pytest.approx(state[0, 9])


def test_a_hit_carries_the_puck_over_the_centre_line() -> None:
    rally = SimulatedRally(1)
    rally.puck, rally.velocity = np.array([CENTRE - 0.01, 0.0]), np.array([1.0, 0.0])
    rally.advance(rally.paddle, 0.05)
    assert rally.measures["hits"] == 1
    assert rally.measures["time_per_hit"] == pytest.approx(0.05)


def test_a_rally_is_over_when_the_puck_rests_out_of_reach() -> None:
    rally = SimulatedRally(2)
    assert not rally.is_over
    rally.puck = np.array([LENGTH - 0.1, 0.0])
    assert rally.is_over


def test_starts_depend_on_the_seed_alone() -> None:
    assert SimulatedRally(5).puck.tolist() == SimulatedRally(5).puck.tolist()
    assert SimulatedRally(5).puck.tolist() != SimulatedRally(6).puck.tolist()
