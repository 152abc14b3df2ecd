"""An obstacle with two ways past it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.demonstrators import UniformNoise, expert_return, record
from counterbc.envs import fork, make_vec
from counterbc.errors import OptionError

Array = NDArray[Any]


def step(at: tuple[float, float], action: tuple[float, float]) -> tuple[Array, float, bool]:
    state, zero = np.array([[*at, 0.0, 0.0, 0.0]]), np.zeros(1, int)
    after, reward, is_over = fork.Detour().advance(state, np.array([action]), zero, zero)
    return after[0], float(reward[0]), bool(is_over[0])


def test_an_action_moves_by_a_quarter_of_it_and_no_further_than_its_bounds() -> None:
    np.testing.assert_allclose(step((-1, 0), (0.5, -0.2))[0][:2], [-0.875, -0.05])
    np.testing.assert_allclose(step((-1, 0), (7.0, -7.0))[0][:2], [-0.75, -0.25])
    np.testing.assert_array_equal(step((-1, 0), (np.nan, 0.0))[0][:2], [-1, 0])


def test_the_obstacle_costs_one_the_goal_gives_one_and_both_end_the_episode() -> None:
    assert step((-0.4, 0), (1, 0))[1:] == (-1, True)
    assert step((0.7, 0), (1, 0))[1:] == (1, True)
    assert step((-1.2, 0), (1, 0))[1:] == (0, False)
    assert step((0, 1.95), (0, 1))[1:] == (0, True)  # off the field


@pytest.mark.parametrize(("y", "is_left"), [(1, 1.0), (-1, 0.0)])
def test_the_side_is_that_of_passing_the_obstacle(y: int, is_left: float) -> None:
    env: Any = make_vec("fork", 1, start_spread=0.0)
    env.reset(seed=0)
    for action in [(0, y)] * 3 + [(1, 0)] * 5 + [(0, -y)] * 3:
        info = env.step(np.array([action]))[4]
    assert info["left"].tolist() == [is_left]
    assert info["hit"].tolist() == info["success"].tolist() == [0.0]


def test_straight_on_leads_into_the_obstacle() -> None:
    env: Any = make_vec("fork", 50)
    env.reset(seed=0)
    hit = np.zeros(50)
    for _ in range(8):
        hit = np.maximum(hit, env.step(np.tile([1.0, 0.0], (50, 1)))[4]["hit"])
    assert hit.all()


def test_the_expert_arrives_on_either_side_without_touching_also_with_noise() -> None:
    assert expert_return("fork", 500, 0) == 1
    takes = record("fork", UniformNoise(0.3), 500, 0)
    last = [r.episode.reward[-1] for r in takes if r.episode.reward is not None]
    assert np.mean(np.array(last) == 1) > 0.99
    passes_left = np.array([r.episode.obs[len(r.episode) // 2, 1] > 0 for r in takes])
    assert passes_left.mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(500))


def test_at_the_same_state_two_actions_are_right_and_their_mean_is_not() -> None:
    key = np.arange(200)
    action = fork.expert(np.tile([-0.8, 0.0], (200, 1)), key, 0)
    ways = np.unique(action.round(9), axis=0)
    # Towards (0.1, ±0.8) from (−0.8, 0), at 0.8: 0.8 · (0.9, ±0.8) / √1.45.
    np.testing.assert_allclose(ways, 0.8 * np.array([[0.9, -0.8], [0.9, 0.8]]) / np.sqrt(1.45))
    np.testing.assert_array_equal(np.sign(action[:, 1]), fork.sides(key))


@pytest.mark.parametrize("bad", [-0.1, 0.4, float("nan")])
def test_starts_that_are_too_wide_are_refused(bad: float) -> None:
    with pytest.raises(OptionError, match=f"start_spread is {bad}; allowed: 0 to 0.3"):
        make_vec("fork", 1, start_spread=bad)
