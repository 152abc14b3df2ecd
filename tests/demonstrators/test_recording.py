"""Demonstrations do not depend on how they were recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from counterbc.data.scaling import Scaling
from counterbc.demonstrators import (
    HUMAN_TEACHERS,
    Chain,
    Delay,
    EpsilonGreedy,
    GaussianNoise,
    Teacher,
    UniformNoise,
    demonstrate,
    expert_return,
    expert_returns,
    record,
    returns,
)
from counterbc.demonstrators import recording as module
from counterbc.envs import WORLDS, make_vec
from counterbc.errors import DataError, OptionError

Array = NDArray[Any]
ALL_TEACHERS = [UniformNoise(0.5), GaussianNoise(0.5), *HUMAN_TEACHERS.values()]


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


@pytest.mark.parametrize("teacher", ALL_TEACHERS, ids=str)
def test_an_episode_is_the_same_however_many_are_recorded_with_it(teacher: Teacher) -> None:
    three, many = (demonstrate("intersection", teacher, 20 * n, seed=4) for n in (3, 23))
    for a, b in zip(three.episodes, many.episodes[:3], strict=True):
        np.testing.assert_array_equal(a.obs, b.obs)
        np.testing.assert_array_equal(a.action, b.action)
        assert a.operator == b.operator


@pytest.mark.parametrize("teacher", ALL_TEACHERS, ids=str)
def test_the_size_of_a_batch_changes_nothing(
    teacher: Teacher, short: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prints = []
    for slots in (1, 7, 1024):
        monkeypatch.setattr(module, "SLOTS", slots)
        prints.append(demonstrate(short, teacher, 300, seed=2).fingerprint())
    assert prints[0] == prints[1] == prints[2]


def test_short_episodes_fill_the_pairs_in_few_batches(short: str) -> None:
    demos = demonstrate(short, HUMAN_TEACHERS["typical"], 400, seed=0)
    assert demos.pairs == 400
    lengths = [len(e) for e in demos.episodes]
    assert all(15 <= n <= 39 for n in lengths[:-1])
    # One episode to learn how long they are, then nearly all of the others side by side.
    assert Short.steps_taken <= 4 * 39


def test_the_worlds_rate_is_recorded_and_decides_what_a_second_is(
    short: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rate in (10, 25):
        monkeypatch.setitem(WORLDS, short, replace(WORLDS[short], rate=rate))
        demos = demonstrate(short, Chain((UniformNoise(0.5), Delay(0.4))), 300, seed=1)
        assert demos.rate == rate
        rest = [int((e.action[:, 0] == 5).argmin()) for e in demos.episodes]  # the middle
        assert rest[:-1] == [int(0.4 * rate)] * (len(rest) - 1)


def test_a_teacher_errs_in_units_of_the_action_range(short: str) -> None:
    demos = demonstrate(short, UniformNoise(0.2), 400, seed=0)
    np.testing.assert_array_equal([demos.action_low, demos.action_high], [[0], [10]])
    # The middle is 5 and half the range 5, so that 0.2 is one unit of the world.
    assert 0.95 < abs(demos.action - 5).max() < 1.0
    assert (demonstrate(short, Chain(()), 400, seed=0).action == 5).all()


def test_recorded_episodes_say_what_was_meant_and_open_the_demonstrations() -> None:
    takes = record("intersection", HUMAN_TEACHERS["crowd"], 4, seed=6)
    demos = demonstrate("intersection", HUMAN_TEACHERS["crowd"], 80, seed=6)
    for r, e in zip(takes, demos.episodes, strict=True):
        np.testing.assert_array_equal(r.episode.action, e.action)
    clean = record("intersection", Chain(()), 4, seed=6)
    for r in clean:
        np.testing.assert_allclose(r.episode.action, r.intended, atol=1e-6)
    # Both start in the same state with the same candidates, so they first mean the same.
    for r, c in zip(takes, clean, strict=True):
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


def test_demonstrations_say_what_they_are() -> None:
    demos = demonstrate("intersection", UniformNoise(0.5), pairs=390, seed=0)
    assert demos.pairs == 390
    assert [len(e) for e in demos.episodes] == [20] * 19 + [10]
    assert demos.source == "intersection, uniform σ=0.5, seed 0"
    assert demos.env_args == {"env_name": WORLDS["intersection"].id, "type": 2, "env_kwargs": {}}
    assert demos.action_set == "ball"
    np.testing.assert_array_equal([demos.action_low, demos.action_high], [[-1, -1], [1, 1]])
    assert demos.obs_names == ("ego_x", "ego_y", "other_x", "other_y")
    assert demos.action_names == ("ego_dx", "ego_dy")


def test_the_action_shown_is_the_action_taken_also_outside_the_disc() -> None:
    demos = demonstrate("intersection", GaussianNoise(0.5), pairs=200, seed=3)
    assert demos.infeasible.any()
    for e in demos.episodes:
        np.testing.assert_allclose(np.diff(e.obs[:, :2], axis=0), e.action[:-1], atol=1e-5)


def test_the_same_seed_gives_the_same_demonstrations_and_another_seed_others() -> None:
    prints = [
        demonstrate("intersection", UniformNoise(0.5), 60, seed).fingerprint() for seed in (0, 0, 1)
    ]
    assert prints[0] == prints[1] != prints[2]


def test_teachers_with_one_seed_share_the_starts_which_no_evaluation_sees() -> None:
    clean, noisy = (demonstrate("intersection", UniformNoise(s), 200, 0) for s in (0.0, 0.5))
    starts = np.array([e.obs[0] for e in clean.episodes])
    np.testing.assert_array_equal(starts, [e.obs[0] for e in noisy.episodes])
    evaluated, _ = make_vec("intersection", 500).reset(seed=0)
    assert abs(starts[:, None] - evaluated).max(axis=2).min() > 1e-3


def test_zero_sigma_demonstrates_unit_steps_of_the_expert() -> None:
    demos = demonstrate("intersection", UniformNoise(0.0), pairs=400, seed=0)
    length = np.linalg.norm(demos.action, axis=1)
    assert length.max() <= 1 + 1e-6
    assert length.mean() > 0.9
    assert not demos.infeasible.any()


def test_the_expert_returns_what_the_prototype_measured() -> None:
    # 15.77 ± 0.04 over 20,000 episodes; the prototype had 15.79.
    assert expert_return("intersection", 4000, seed=0) == pytest.approx(15.79, abs=0.3)


@pytest.mark.parametrize(
    ("teacher", "mean_return"),
    [(UniformNoise(0.5), 15.54), (GaussianNoise(0.5), 15.24), (EpsilonGreedy(0.5), 15.68)],
)
def test_return_of_noisy_demonstrations(teacher: Teacher, mean_return: float) -> None:
    # Each ± 0.08. The noise is taken as it is and has mean zero, so little is lost; the paper's
    # 13.1 for synthetic demonstrations is not reached at σ = 0.5 by any of the three.
    demos = demonstrate("intersection", teacher, pairs=40_000, seed=0)
    assert demos.mean_return == pytest.approx(mean_return, abs=0.3)


def test_unknown_worlds_and_empty_requests_are_refused_in_words() -> None:
    with pytest.raises(OptionError, match="unknown world 'crossing'; allowed: intersection"):
        demonstrate("crossing", UniformNoise(0.5), 100, 0)
    with pytest.raises(OptionError, match="cannot demonstrate 0 pairs; ask for 1 or more"):
        demonstrate("intersection", UniformNoise(0.5), 0, 0)
    with pytest.raises(OptionError, match="cannot average over 0 episodes; ask for 1 or more"):
        expert_return("intersection", 0, 0)


@pytest.mark.parametrize("world", ["cartpole", "intersection"])
def test_actions_taken_are_those_asked_for_projected_to_the_feasible_ones(world: str) -> None:
    teacher = UniformNoise(1.0)
    asked = demonstrate(world, teacher, 60, seed=0)
    taken = demonstrate(world, teacher, 60, seed=0, actions_are="taken")
    assert (asked.actions_are, taken.actions_are) == ("asked", "taken")
    assert asked.infeasible.any()
    assert not taken.infeasible.any()
    scales = Scaling.fit(asked, True, True)
    first = (
        len(taken.episodes[0]) if world == "cartpole" else 1
    )  # Intersection's teachers act uncut
    project = scales.project(torch.tensor(asked.action)[None])[0].numpy()
    assert np.allclose(taken.action[:first], project[:first], atol=1e-6)
    with pytest.raises(DataError, match="actions_are is 'cut'; allowed"):
        demonstrate(world, teacher, 5, seed=0, actions_are="cut")  # type: ignore[arg-type]


def test_returns_are_those_of_the_actions_taken() -> None:
    taken = demonstrate("intersection", UniformNoise(1.0), 100, seed=0, actions_are="taken")
    whole = returns("intersection", UniformNoise(1.0), 5, 0, actions_are="taken")
    assert taken.mean_return == pytest.approx(whole.mean(), rel=1e-5)
