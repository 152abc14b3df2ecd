"""Two cars, one implementation of their dynamics, and what gymnasium asks of it."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from counterbc.envs import intersection as cars
from counterbc.envs import make_vec
from counterbc.envs.painting import BLUE, ORANGE
from counterbc.errors import OptionError

ID = "counterbc/Intersection-v0"


def crossing(slots: int, **kwargs: Any) -> Any:
    return make_vec("intersection", slots, **kwargs)


def pushes(steps: int, slots: int) -> NDArray[np.float32]:
    return np.random.default_rng(5).normal(size=(steps, slots, 2)).astype(np.float32)


def test_cost_of_a_step_computed_by_hand() -> None:
    ego_car, other_car, goal = np.array([7.0, 4.0]), np.array([4.0, 4.0]), np.array([10.0, 0.0])
    # To the goal 5 → 3, to the other car 3 → 5: (3 − 5) + 0.75 · (3 − 5).
    assert cars.cost(ego_car, other_car, goal, np.array([0.0, -4.0])) == pytest.approx(-3.5)


def test_into_disc_scales_long_actions_and_keeps_short_ones() -> None:
    actions = np.array([[3.0, -4.0], [0.3, 0.4], [0.0, 0.0]])
    np.testing.assert_allclose(cars.into_disc(actions), [[0.6, -0.8], [0.3, 0.4], [0.0, 0.0]])


def test_best_action_is_the_candidate_of_least_cost() -> None:
    ego_car, other_car = np.array([[0.0, 0.0]]), np.array([[-50.0, 0.0]])
    # In action units: (−0.5, 0), (1, 1) which is scaled to (√½, √½), (0.6, 0).
    u = np.array([[[0.25, 1.0, 0.8], [0.5, 1.0, 0.5]]])
    toward = cars.best_action(ego_car, other_car, np.array([10.0, 0.0]), u)
    np.testing.assert_allclose(toward, [[math.sqrt(0.5), math.sqrt(0.5)]])
    escape = cars.best_action(ego_car, -other_car, np.array([-10.0, 0.0]), u)
    np.testing.assert_allclose(escape, [[-0.5, 0.0]])


def test_expert_is_close_to_the_best_action_of_a_fine_grid() -> None:
    obs, _ = crossing(50).reset(seed=0)
    chosen = cars.expert(obs, np.arange(50), 0)
    angle = np.linspace(0, 2 * np.pi, 721)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    state = obs.astype(np.float64)
    parts = state[:, None, :2], state[:, None, 2:], cars.EGO_GOAL
    best = cars.cost(*parts, ring).min(axis=1)
    gap = cars.cost(*parts, chosen[:, None])[:, 0] - best
    assert gap.min() >= -1e-4
    assert gap.mean() < 0.03
    assert not np.array_equal(chosen, cars.expert(obs, np.arange(50), 1))  # fresh candidates


def test_starts_fill_their_halves_of_the_map() -> None:
    obs, _ = crossing(2000).reset(seed=0)
    assert (obs >= cars.START_LOW).all()
    assert (obs <= cars.START_HIGH).all()
    middle = (cars.START_LOW + cars.START_HIGH) / 2
    np.testing.assert_allclose(obs.mean(axis=0), middle, atol=0.5)
    assert abs(np.corrcoef(obs.T) - np.eye(4)).max() < 0.08


@pytest.mark.parametrize(("limit", "displacement"), [(True, (0.6, 0.8)), (False, (3.0, 4.0))])
def test_reward_is_minus_the_cost_of_the_action_taken_at_the_old_positions(
    limit: bool, displacement: tuple[float, float]
) -> None:
    env = gymnasium.make(ID, limit_actions=limit)
    old, _ = env.reset(seed=1)
    new, reward, terminated, truncated, _ = env.step(np.array([3.0, 4.0], np.float32))
    np.testing.assert_allclose(new[:2] - old[:2], displacement, atol=1e-5)
    assert math.dist(new[2:], old[2:]) <= 1 + 1e-5  # the other car always keeps to the disc
    ego, other_car, after = old[:2], old[2:], old[:2] + np.array(displacement)
    goal = math.dist(after, (10, 0)) - math.dist(ego, (10, 0))
    apart = math.dist(ego, other_car) - math.dist(after, other_car)
    assert reward == pytest.approx(-(goal + 0.75 * apart), abs=1e-5)
    assert not terminated
    assert not truncated


@pytest.mark.parametrize("slots", [2, 7])
def test_a_slot_of_a_batch_is_the_same_episode_alone_to_the_bit(
    slots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cars, "CHUNK", 3)
    batch = crossing(slots)
    singles = SyncVectorEnv([lambda: gymnasium.make(ID)] * slots)
    batch_obs, single_obs = batch.reset(seed=40)[0], singles.reset(seed=40)[0]
    np.testing.assert_array_equal(batch_obs, single_obs)
    for action in pushes(45, slots):  # over two resets
        for left, right in zip(batch.step(action)[:4], singles.step(action)[:4], strict=True):
            np.testing.assert_array_equal(left, right)


def test_seeds_may_be_listed_and_without_one_each_slot_goes_on() -> None:
    env = crossing(3)
    first, _ = env.reset(seed=[9, 4, 9])
    second_obs, _ = env.reset()
    np.testing.assert_array_equal(first[0], first[2])
    np.testing.assert_array_equal(second_obs[0], second_obs[2])
    assert (first != second_obs).all()
    np.testing.assert_array_equal(crossing(2).reset(seed=3)[0][1], first[1])
    with pytest.raises(OptionError, match="2 seeds for 3 slots; give one per slot"):
        env.reset(seed=[1, 2])


def test_an_episode_is_truncated_after_20_steps_and_begins_again_with_the_next() -> None:
    env = crossing(2)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
        env.step(np.zeros((2, 2)))
    start, _ = env.reset(seed=0)
    for t, action in enumerate(pushes(20, 2)):
        _, _, terminated, truncated, _ = env.step(action)
        assert not terminated.any()
        assert (truncated == (t == 19)).all()
    obs, reward, _, truncated, _ = env.step(np.full((2, 2), 9.0))
    assert (reward == 0).all()
    assert not truncated.any()
    assert (obs != start).all()
    assert (obs >= cars.START_LOW).all()
    assert (obs <= cars.START_HIGH).all()
    assert (env.step(np.ones((2, 2)))[1] != 0).all()


def test_actions_of_another_shape_are_refused() -> None:
    env = crossing(3)
    env.reset(seed=0)
    with pytest.raises(OptionError, match=r"shape \(2,\); expected \(3, 2\)"):
        env.step(np.zeros(2))


def test_frames_show_both_cars_in_every_slot() -> None:
    env = crossing(2, render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step(np.ones((2, 2)))
    after = env.render()
    assert len(after) == 2
    assert after[0].shape == (320, 320, 3)
    assert after[0].dtype == np.uint8
    for old, new in zip(before, after, strict=True):
        for color in (ORANGE, BLUE):
            assert (new == color).all(axis=2).sum() > 100
        assert (old != new).any()
    assert crossing(2).render() is None
    with pytest.raises(OptionError, match="'rgb_array', or None"):
        crossing(1, render_mode="human")


def test_both_environments_say_what_their_numbers_mean() -> None:
    envs: list[Any] = [gymnasium.make(ID).unwrapped, crossing(2)]
    for env in envs:
        assert env.action_set == "ball"
        assert env.obs_names == ("ego_x", "ego_y", "other_x", "other_y")
        assert env.action_names == ("ego_dx", "ego_dy")
