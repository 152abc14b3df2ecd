"""Demonstrations do not depend on how they were recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from counterbc.demonstrators import (
    TEACHERS,
    Chain,
    GaussianNoise,
    Teacher,
    UniformNoise,
    demonstrate,
    expert_returns,
    record,
    returns,
)
from counterbc.demonstrators import recording as module
from counterbc.envs import WORLDS
from counterbc.errors import OptionError

Array = NDArray[Any]
EVERY = [UniformNoise(0.5), GaussianNoise(0.5), *TEACHERS.values()]


class Short(VectorEnv[Array, Array, Array]):
    """Episodes of 15 to 39 of 1000 steps; actions span [0, 10], and the state counts the steps."""

    metadata = VectorEnv.metadata | {"autoreset_mode": AutoresetMode.NEXT_STEP}
    action_set, action_names, obs_names = "box", ("push",), ("t", "length")
    steps_taken = 0

    def __init__(self, num_envs: int = 1, max_episode_steps: int = 1000) -> None:
        self.num_envs = num_envs
        self.single_observation_space = Box(0, 1000, (2,), np.float32)
        self.single_action_space = Box(0, 10, (1,), np.float32)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Any = None
    ) -> tuple[Array, dict[str, Any]]:
        assert isinstance(seed, list)
        self.t = np.zeros(self.num_envs)
        self.length = 15 + np.array(seed) % 25
        return self._obs(), {}

    def _obs(self) -> Array:
        return np.stack([self.t, self.length], axis=1).astype(np.float32)

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        Short.steps_taken += 1
        self.t += 1
        never = np.zeros(self.num_envs, bool)
        return self._obs(), actions[:, 0], self.t >= self.length, never, {}


def expert(obs: Array, key: Array, t: int) -> Array:
    """Always the middle."""
    return np.full((len(obs), 1), 5.0)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(
        gymnasium.registry,
        "Short-v0",
        gymnasium.envs.registration.EnvSpec("Short-v0", vector_entry_point=f"{__name__}:Short"),
    )
    like = WORLDS["intersection"]
    world = replace(like, id="Short-v0", expert=f"{__name__}:expert", steps=1000, teacher_kwargs={})
    monkeypatch.setitem(WORLDS, "short", world)
    Short.steps_taken = 0
    return "short"


@pytest.mark.parametrize("teacher", EVERY, ids=str)
def test_an_episode_is_the_same_however_many_are_recorded_with_it(teacher: Teacher) -> None:
    few, many = (demonstrate("intersection", teacher, 20 * n, seed=4) for n in (3, 23))
    for a, b in zip(few.episodes, many.episodes[:3], strict=True):
        np.testing.assert_array_equal(a.obs, b.obs)
        np.testing.assert_array_equal(a.action, b.action)
        assert a.operator == b.operator


@pytest.mark.parametrize("teacher", EVERY, ids=str)
def test_the_size_of_a_batch_changes_nothing(
    teacher: Teacher, short: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prints = []
    for slots in (1, 7, 1024):
        monkeypatch.setattr(module, "SLOTS", slots)
        prints.append(demonstrate(short, teacher, 300, seed=2).fingerprint())
    assert prints[0] == prints[1] == prints[2]


def test_short_episodes_fill_the_pairs_in_few_batches(short: str) -> None:
    demos = demonstrate(short, TEACHERS["typical"], 400, seed=0)
    assert demos.pairs == 400
    lengths = [len(e) for e in demos.episodes]
    assert all(15 <= n <= 39 for n in lengths[:-1])
    # One episode to learn how long they are, then nearly all of the others side by side.
    assert Short.steps_taken <= 4 * 39


def test_a_teacher_errs_in_units_of_the_action_range(short: str) -> None:
    demos = demonstrate(short, UniformNoise(0.2), 400, seed=0)
    np.testing.assert_array_equal([demos.action_low, demos.action_high], [[0], [10]])
    # The middle is 5 and half the range 5, so that 0.2 is one unit of the world.
    assert 0.95 < abs(demos.action - 5).max() < 1.0
    assert (demonstrate(short, Chain(()), 400, seed=0).action == 5).all()


def test_recorded_episodes_say_what_was_meant_and_open_the_demonstrations() -> None:
    recorded = record("intersection", TEACHERS["crowd"], 4, seed=6)
    demos = demonstrate("intersection", TEACHERS["crowd"], 80, seed=6)
    for r, e in zip(recorded, demos.episodes, strict=True):
        np.testing.assert_array_equal(r.episode.action, e.action)
    clean = record("intersection", Chain(()), 4, seed=6)
    for r in clean:
        np.testing.assert_allclose(r.episode.action, r.intended, atol=1e-6)
    # Both start in the same state with the same candidates, so they first mean the same.
    for r, c in zip(recorded, clean, strict=True):
        np.testing.assert_array_equal(r.intended[0], c.intended[0])
    with pytest.raises(OptionError, match="cannot record 0 episodes; ask for 1 or more"):
        record("intersection", UniformNoise(0.5), 0, 0)


def test_expert_and_teacher_are_compared_from_the_same_starts(
    short: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    firsts: list[Array] = []
    reset = Short.reset

    def remember(env: Short, **kwargs: Any) -> tuple[Array, dict[str, Any]]:
        obs, info = reset(env, **kwargs)
        firsts.append(obs)
        return obs, info

    monkeypatch.setattr(Short, "reset", remember)
    shown, best = returns(short, UniformNoise(0.2), 9, 3), expert_returns(short, 9, 3)
    np.testing.assert_array_equal(firsts[0], firsts[1])
    assert shown.shape == best.shape == (9,)
    demos = demonstrate(short, UniformNoise(0.2), 400, 3)
    np.testing.assert_array_equal([e.obs[0] for e in demos.episodes[:9]], firsts[1])
