"""What every world of N slots owes, and the base that counts around its dynamics."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv
from numpy.typing import NDArray

from counterbc.envs import WORLDS, batched, make_vec
from counterbc.envs.batched import BatchedEnv, BatchedVectorEnv, Dynamics, uniform
from counterbc.errors import OptionError

Array = NDArray[Any]
OWN_WORLDS = [name for name in WORLDS if name not in ("car-racing", "can", "push-t")]
"""Worlds whose dynamics are ours."""


@dataclass(frozen=True)
class Falling(Dynamics):
    """A height that sinks by the action; the episode ends below 0."""

    least: float = 0.0

    steps = 8
    fps = 5
    obs_space = Box(-100.0, 100.0, (1,), np.float32)
    action_space = Box(0.0, 2.0, (1,), np.float32)
    obs_names = ("height",)
    action_names = ("down",)
    measures = ("fallen",)

    def start(self, key: Array) -> Array:
        height = self.least + 5.0 * uniform(key, "height", np.zeros_like(key), 1)
        return np.concatenate([height, np.zeros_like(height)], axis=1)

    def advance(
        self, state: Array, action: Array, key: Array, t: Array
    ) -> tuple[Array, Array, Array]:
        height, fallen = state[:, 0] - action[:, 0], state[:, 1] + action[:, 0]
        return np.stack([height, fallen], axis=1), height.copy(), height < 0

    def observe(self, state: Array) -> Array:
        return super().observe(state[:, :1])

    def measure(self, state: Array) -> dict[str, Array]:
        return {"fallen": state[:, 1]}

    def draw(self, trail: Array) -> NDArray[np.uint8]:
        return np.full((2, 2, 3), len(trail), np.uint8)


class Fall(BatchedEnv, dynamics=Falling):
    """One fall."""


class FallVector(BatchedVectorEnv, dynamics=Falling):
    """N falls."""


def actions(world: str, steps: int, slots: int) -> Array:
    space: Any = make_vec(world, 1).single_action_space
    return np.random.default_rng(5).normal(size=(steps, slots, *space.shape)).astype(np.float32)


def test_what_a_step_gives_is_what_the_dynamics_say() -> None:
    env = FallVector(2, least=3.0)
    start, info = env.reset(seed=0)
    assert (start > 3).all()
    np.testing.assert_array_equal(info["fallen"], [0, 0])
    obs, reward, terminated, truncated, info = env.step(np.array([[1.0], [20.0]]))
    np.testing.assert_allclose(obs, start - [[1.0], [20.0]], atol=1e-6)
    np.testing.assert_allclose(reward, obs[:, 0], atol=1e-6)
    np.testing.assert_array_equal(terminated, [False, True])
    assert not truncated.any()
    np.testing.assert_array_equal(info["fallen"], [1, 20])
    np.testing.assert_array_equal(info["_fallen"], [True, True])


def test_a_slot_that_ended_begins_again_with_the_next_step_and_the_others_go_on() -> None:
    env = FallVector(2)
    start, _ = env.reset(seed=0)
    env.step(np.array([[0.25], [9.0]]))
    obs, reward, terminated, _, info = env.step(np.array([[0.25], [9.0]]))
    np.testing.assert_allclose(obs[0], start[0] - 0.5, atol=1e-6)
    assert obs[1] not in (start[1], start[1] - 9)
    assert obs[1] > 0
    assert reward[0] > 0
    assert reward[1] == 0
    assert not terminated.any()
    np.testing.assert_array_equal(info["fallen"], [0.5, 0])


@pytest.mark.parametrize("ahead", [2, batched.AHEAD])
def test_measures_and_early_ends_are_those_of_single_environments_over_many_resets(
    ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batched, "AHEAD", ahead)
    batch_env, single_envs = FallVector(5), SyncVectorEnv([Fall] * 5)
    for left, right in zip(batch_env.reset(seed=7), single_envs.reset(seed=7), strict=True):
        np.testing.assert_equal(left, right)
    ends = np.zeros(5)
    for action in np.random.default_rng(0).uniform(0, 2, (200, 5, 1)):
        batch_result = batch_env.step(action)
        np.testing.assert_equal(batch_result, single_envs.step(action))
        ends += batch_result[2]
    assert (ends > ahead).all()
    assert len(set(ends)) > 1


def test_a_single_environment_reports_its_measures_as_plain_floats() -> None:
    env = Fall()
    assert env.reset(seed=0)[1] == {"fallen": 0.0}
    info = env.step(np.array([1.5]))[4]
    assert info == {"fallen": 1.5}
    assert type(info["fallen"]) is float


def test_the_episodes_of_a_slot_differ_and_its_seed_brings_them_back() -> None:
    env = FallVector(3)
    seeds = [[4, None, 6]] + 39 * [None]
    starts = np.array([env.reset(seed=seed)[0][:, 0] for seed in seeds])  # (40, 3)
    assert len(np.unique(starts)) == starts.size
    single = Fall()
    for i, row in enumerate(starts):
        assert single.reset(seed=4 if i == 0 else None)[0] == row[0]
    env.reset(seed=[None, 9, None])
    assert env.reset(seed=[4, None, None])[0][0] == starts[0, 0]


def test_what_a_step_gave_is_not_changed_by_what_comes_after() -> None:
    env = FallVector(2)
    env.reset(seed=0)
    batch_result = env.step(np.array([[0.25], [9.0]]))
    before = copy.deepcopy(batch_result)
    env.step(np.array([[0.25], [9.0]]))
    env.reset(seed=1)
    np.testing.assert_equal(batch_result, before)


def test_without_a_seed_no_two_slots_start_alike() -> None:
    starts = np.concatenate([FallVector(50).reset()[0], FallVector(50).reset()[0]])
    assert len(np.unique(starts)) == 100


def test_a_frame_shows_the_states_since_the_episode_began() -> None:
    env = FallVector(2, render_mode="rgb_array")
    env.reset(seed=0)
    frames_shown = []
    for _ in range(3):
        frames_shown.append([int(frame.max()) for frame in env.render() or ()])
        env.step(np.array([[0.0], [9.0]]))
    assert frames_shown == [[1, 1], [2, 2], [3, 1]]


def test_options_reach_the_dynamics_and_unknown_ones_are_refused_with_the_known() -> None:
    assert Fall(least=50.0).reset(seed=0)[0] > 50
    for make in (Fall, FallVector):
        message = f"unknown option of {make.__name__} 'most'; allowed: .*, least"
        with pytest.raises(OptionError, match=message):
            make(most=1.0)


@pytest.mark.parametrize("steps", [3, 25])
def test_the_limit_of_steps_can_be_changed_both_ways(steps: int) -> None:
    single: Any = gymnasium.make(WORLDS["intersection"].id, max_episode_steps=steps)
    two_slots = make_vec("intersection", 2, max_episode_steps=steps)
    single.reset(seed=0)
    two_slots.reset(seed=0)
    for t in range(1, steps + 1):
        assert single.step(np.zeros(2, np.float32))[3] == (t == steps)
        assert (two_slots.step(np.zeros((2, 2)))[3] == (t == steps)).all()


@pytest.mark.parametrize("world", OWN_WORLDS)
def test_gymnasium_finds_nothing_to_complain_about(world: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(WORLDS[world].id, render_mode="rgb_array").unwrapped)


@pytest.mark.parametrize("world", OWN_WORLDS)
def test_an_episode_is_the_same_to_the_bit_in_a_batch_of_any_size(world: str) -> None:
    actions_taken = actions(world, 13, 1000)  # over two resets
    whole = make_vec(world, 1000, max_episode_steps=5)
    parts = [(n, first) for n in (1, 2, 3, 7, 64) for first in (0, 5)]
    envs = [make_vec(world, n, max_episode_steps=5) for n, _ in parts]
    expected_result = whole.reset(seed=0)[0]
    for env, (n, first) in zip(envs, parts, strict=True):
        np.testing.assert_array_equal(env.reset(seed=first)[0], expected_result[first : first + n])
    for action in actions_taken:
        *expected_result, info = whole.step(action)
        for env, (n, first) in zip(envs, parts, strict=True):
            rows = slice(first, first + n)
            *batch_result, measure_info = env.step(action[rows])
            for left, right in zip(batch_result, expected_result, strict=True):
                np.testing.assert_array_equal(left, right[rows])
            for name, values in measure_info.items():
                np.testing.assert_array_equal(values, info[name][rows])


@pytest.mark.parametrize("world", OWN_WORLDS)
def test_a_slot_of_a_batch_is_the_single_environment_to_the_bit(world: str) -> None:
    batch_env = make_vec(world, 3)
    single_envs = SyncVectorEnv([lambda: gymnasium.make(WORLDS[world].id)] * 3)
    np.testing.assert_equal(batch_env.reset(seed=40), single_envs.reset(seed=40))
    for action in actions(world, 60, 3):
        np.testing.assert_equal(batch_env.step(action), single_envs.step(action))


@pytest.mark.parametrize("world", OWN_WORLDS)
def test_the_expert_is_the_same_to_the_bit_in_a_batch_of_any_size(world: str) -> None:
    expert = WORLDS[world].load_expert()
    obs, _ = make_vec(world, 1000).reset(seed=0)
    key = np.arange(1000)
    whole = expert(obs, key, 3)
    for n in (1, 2, 3, 7, 64):
        rows = slice(5, 5 + n)
        np.testing.assert_array_equal(expert(obs[rows], key[rows], 3), whole[rows])


@pytest.mark.parametrize("world", OWN_WORLDS)
def test_a_world_says_what_its_numbers_mean_and_when_it_ends(world: str) -> None:
    envs: list[Any] = [gymnasium.make(WORLDS[world].id).unwrapped, make_vec(world, 2)]
    for env, spaces in zip(envs, ("", "single_"), strict=True):
        assert len(env.obs_names) == getattr(env, f"{spaces}observation_space").shape[0]
        assert len(env.action_names) == getattr(env, f"{spaces}action_space").shape[0]
        assert env.max_episode_steps == WORLDS[world].steps
        assert env.metadata["render_fps"] > 0
