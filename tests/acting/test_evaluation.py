"""Every member in every episode: the same starts, whatever runs beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.envs import registration
from gymnasium.spaces import Box
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from counterbc.acting.evaluation import compare, evaluate
from counterbc.acting.policies import Policies
from counterbc.acting.rollout import start_seeds
from counterbc.errors import CounterBCError, FormatError, OptionError
from tests.fixture_types import Make, Train

Array = NDArray[Any]


class Countdown(gymnasium.Env[Array, Array]):
    """Ends after 2 … 6 steps, by the seed; pays the start and, each step, the action."""

    observation_space = Box(-100, 100, (2,), np.float32)
    action_space = Box(-1, 1, (1,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps_left = int(self.np_random.integers(2, 7))
        self.start = float(self.np_random.uniform(-1, 1))
        return self._obs(), {}

    def _obs(self) -> Array:
        return np.array([self.start, self.steps_left], np.float32)

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        self.steps_left -= 1
        reward = self.start + float(action[0])
        return self._obs(), reward, self.steps_left == 0, False, {}


class MeasuredEnv(Countdown):
    """Also reports how many steps it took and, after odd numbers of them, what it paid."""

    measures = ("steps", "paid_if_odd")

    def reset(self, **options: Any) -> tuple[Array, dict[str, Any]]:
        self.steps, self.total_reward = 0, 0.0
        return super().reset(**options)[0], {"steps": 0, "paid_if_odd": 0.0}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        obs, reward, over, _, _ = super().step(action)
        self.steps, self.total_reward = self.steps + 1, self.total_reward + reward
        odd = {"paid_if_odd": self.total_reward} if self.steps % 2 else {}
        return obs, reward, over, False, {"steps": self.steps} | odd


class Endless(Countdown):
    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        self.steps_left += 2
        return super().step(action)


def _vector(mode: AutoresetMode) -> Callable[..., SyncVectorEnv]:
    def make(num_envs: int, **_: Any) -> SyncVectorEnv:
        return SyncVectorEnv([Countdown] * num_envs, autoreset_mode=mode)

    return make


@pytest.fixture(autouse=True, scope="module")
def _registered() -> Iterator[None]:
    ids = ["tests/Countdown-v0", "tests/Endless-v0"]
    registration.register(ids[0], entry_point=lambda **_: Countdown())
    registration.register(ids[1], entry_point=lambda **_: Endless())
    for mode in AutoresetMode:
        ids.append(f"tests/{mode.name.title().replace('_', '')}-v0")
        registration.register(ids[-1], vector_entry_point=_vector(mode))
    yield
    for name in ids:
        del registration.registry[name]


@pytest.fixture(scope="module")
def counters(make_demos: Make, quick: Train) -> Policies:
    """Three members for the countdown."""
    return quick(make_demos(obs_size=2, action_size=1), "bc", seeds=3)


@pytest.fixture(scope="module")
def drivers(make_demos: Make, quick: Train) -> Policies:
    """Three members for the intersection."""
    return quick(make_demos(obs_size=4, action_set="ball"), "bc", seeds=3)


def returns(policies: Policies, env: str, episodes: int = 5, **options: Any) -> Array:
    return evaluate(policies, env, episodes=episodes, progress=False, **options).returns


def by_hand(policies: Policies, member: int, episode: int, seed: int = 0) -> tuple[float, int]:
    """One episode with an ordinary environment and an ordinary actor."""
    env, actor = Countdown(), policies[member].actor()
    (start,) = start_seeds(policies[member], [episode], seed)
    obs, _ = env.reset(seed=start)
    total, length, done = 0.0, 0, False
    while not done:
        obs, reward, done, _, _ = env.step(actor.act(obs))
        total, length = total + reward, length + 1
    return total, length


def test_returns_and_lengths_are_those_of_a_plain_loop(counters: Policies) -> None:
    result = evaluate(counters, "tests/Countdown-v0", episodes=6, progress=False)
    assert result.returns.shape == result.lengths.shape == (3, 6)
    for member in range(3):
        for episode in range(6):
            total, length = by_hand(counters, member, episode)
            assert result.returns[member, episode] == pytest.approx(total, abs=1e-5)
            assert result.lengths[member, episode] == length
    assert len(set(result.lengths.ravel().tolist())) > 2


@pytest.mark.parametrize("act", ["mean", "sample"])
@pytest.mark.parametrize("slots", [1, 2, 3, 7, 1000])
def test_how_many_run_at_once_changes_nothing(counters: Policies, slots: int, act: str) -> None:
    whole = returns(counters, "tests/Countdown-v0", act=act)
    assert np.array_equal(returns(counters, "tests/Countdown-v0", act=act, slots=slots), whole)


@pytest.mark.parametrize("slots", [1, 4, 6])
def test_how_many_run_at_once_changes_nothing_in_a_native_world(
    drivers: Policies, slots: int
) -> None:
    whole = returns(drivers, "intersection")
    assert np.array_equal(returns(drivers, "intersection", slots=slots), whole)


@pytest.mark.parametrize("method", ["bc-rnn", "bcnd"])
def test_memory_and_parts_do_not_mix_between_slots(
    method: str, make_demos: Make, quick: Train
) -> None:
    policies = quick(make_demos(obs_size=2, action_size=1), method, seeds=2)
    whole = returns(policies, "tests/Countdown-v0", episodes=3)
    for member in range(2):
        for episode in range(3):
            total, _ = by_hand(policies, member, episode)
            assert whole[member, episode] == pytest.approx(total, abs=1e-5)


def test_the_mode_of_autoreset_changes_nothing(counters: Policies) -> None:
    plain = returns(counters, "tests/Countdown-v0")
    for name in ("NextStep", "SameStep", "Disabled"):
        assert np.array_equal(returns(counters, f"tests/{name}-v0"), plain), name


def _envs(mode: AutoresetMode) -> Callable[[int], SyncVectorEnv]:
    return lambda slots: SyncVectorEnv([MeasuredEnv] * slots, autoreset_mode=mode)


@pytest.mark.parametrize(
    "make",
    [*map(_envs, AutoresetMode), lambda slots: AsyncVectorEnv([MeasuredEnv] * slots)],
    ids=[*(mode.name for mode in AutoresetMode), "async"],
)
def test_measures_are_those_of_the_last_step_of_each_episode(
    counters: Policies, make: Callable[[int], Any]
) -> None:
    result = evaluate(counters[:2], make, episodes=6, progress=False, slots=4)
    assert list(result.measures) == ["steps", "paid_if_odd"]
    assert np.array_equal(result.measures["steps"], result.lengths)
    odd = result.lengths % 2 == 1
    assert 0 < odd.sum() < odd.size
    np.testing.assert_allclose(result.measures["paid_if_odd"][odd], result.returns[odd])
    assert bool(np.isnan(result.measures["paid_if_odd"][~odd]).all())  # where none was reported


def test_measures_have_intervals_as_returns_have(counters: Policies) -> None:
    faulty = replace(counters, params={k: v.clone() for k, v in counters.params.items()})
    faulty.params["head.bias"][1] = torch.nan
    result = evaluate(faulty, _envs(AutoresetMode.NEXT_STEP), episodes=4, progress=False)
    interval = result.measure_intervals["steps"]
    assert interval.n == 2  # the diverged member is left out
    assert interval.mean == pytest.approx(result.lengths[[0, 2]].mean())
    assert f"steps {interval}, " in repr(result)


def test_an_environment_that_names_no_measures_has_none(counters: Policies) -> None:
    result = evaluate(counters, "tests/Countdown-v0", episodes=2, progress=False)
    assert result.measures == result.measure_intervals == {}


def test_a_member_alone_earns_what_it_earned_among_others(counters: Policies) -> None:
    whole = returns(counters, "tests/Countdown-v0")
    member_returns = returns(counters[2], "tests/Countdown-v0")
    assert member_returns[0] == pytest.approx(whole[2], abs=1e-5)


def test_sampling_is_reproducible_and_belongs_to_its_seed(counters: Policies) -> None:
    first = returns(counters, "tests/Countdown-v0", act="sample")
    assert np.array_equal(returns(counters, "tests/Countdown-v0", act="sample"), first)
    assert not np.array_equal(returns(counters, "tests/Countdown-v0", act="sample", seed=1), first)
    assert not np.array_equal(returns(counters, "tests/Countdown-v0"), first)


def test_no_global_generator_is_touched(counters: Policies) -> None:
    before = torch.get_rng_state(), str(np.random.get_state(legacy=False))
    returns(counters, "tests/Countdown-v0", act="sample")
    assert torch.equal(torch.get_rng_state(), before[0])
    assert str(np.random.get_state(legacy=False)) == before[1]


def test_any_gymnasium_id_serves(make_demos: Make, quick: Train) -> None:
    swinger = quick(make_demos(action_size=1, action_low=[-2.0], action_high=[2.0]), "bc")
    result = evaluate(swinger, "Pendulum-v1", episodes=2, progress=False)
    assert result.lengths.tolist() == [[200, 200]]
    assert bool((result.returns < 0).all())
    assert result.returns[0, 0] != result.returns[0, 1]


def test_the_world_of_the_demonstrations_is_the_default(make_demos: Make, quick: Train) -> None:
    demos = make_demos(obs_size=4, env_args={"env_name": "counterbc/Intersection-v0"})
    result = evaluate(quick(demos, "bc"), episodes=2, progress=False)
    assert result.env == "counterbc/Intersection-v0"
    assert result.lengths.tolist() == [[20, 20]]


def test_options_reach_the_environment(drivers: Policies) -> None:
    result = evaluate(drivers, "intersection", episodes=2, progress=False, max_episode_steps=3)
    assert result.lengths.max() == 3


def test_a_diverged_member_has_no_return_and_spoils_no_other(counters: Policies) -> None:
    faulty = replace(counters, params={k: v.clone() for k, v in counters.params.items()})
    faulty.params["head.bias"][1] = torch.nan
    result = evaluate(faulty, "tests/Countdown-v0", episodes=4, progress=False)
    well = returns(counters, "tests/Countdown-v0", episodes=4)
    assert bool(np.isnan(result.returns[1]).all())
    assert np.array_equal(result.returns[[0, 2]], well[[0, 2]])
    assert result.interval.n == 2


@pytest.mark.parametrize(
    ("env", "options", "sentence"),
    [
        ("intersection", {}, r"observations of intersection are Box.* has vectors of 2"),
        ("MountainCarContinuous-v0", {"episodes": 0}, "cannot evaluate 0 episodes"),
        ("MountainCar-v0", {}, "actions of MountainCar-v0 are Discrete.* vectors of 1"),
        ("FrozenLake-v1", {}, "observations of FrozenLake-v1 are Discrete"),
        ("Nowhere-v0", {}, "unknown environment 'Nowhere-v0'"),
        ("tests/Countdown-v0", {"act": "best"}, "unknown way of acting 'best'"),
        ("tests/Countdown-v0", {"slots": -1}, "slots is -1"),
        ("tests/Countdown-v0", {"slots": 0}, "slots is 0"),
        ("tests/Endless-v0", {"max_steps": 20}, "episodes were not over after 20 steps"),
        (None, {}, "name no environment; name one"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_in_words(
    counters: Policies, env: str | None, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(CounterBCError, match=sentence):
        evaluate(counters, env, progress=False, **({"episodes": 2} | options))


def test_the_interval_is_over_members_or_the_episodes_of_a_single_one(counters: Policies) -> None:
    of_three = evaluate(counters, "tests/Countdown-v0", episodes=4, progress=False)
    assert of_three.interval.n == 3
    assert of_three.interval.mean == pytest.approx(of_three.returns.mean())
    single = evaluate(counters[0], "tests/Countdown-v0", episodes=4, progress=False)
    assert single.interval.n == 4
    assert np.array_equal(np.asarray(of_three), of_three.returns)
    assert "3 members × 4 episodes" in repr(of_three)


def test_runs_are_compared_pair_by_pair(counters: Policies) -> None:
    a = evaluate(counters, "tests/Countdown-v0", episodes=3, progress=False)
    gain = np.array([[1.0], [2.0], [3.0]])
    better = replace(a, returns=a.returns + gain)
    assert compare(better, a).interval.mean == pytest.approx(2)
    assert compare(better, a).interval.se == pytest.approx(1 / math.sqrt(3))
    with pytest.raises(OptionError, match="did not see the same starts"):
        compare(a, replace(a, seed=1))
    with pytest.raises(OptionError, match="did not see the same starts"):
        compare(a, evaluate(counters, "tests/Countdown-v0", episodes=2, progress=False))


def test_a_checkpoint_cannot_choose_a_module_to_import(make_demos: Make, quick: Train) -> None:
    policies = quick(make_demos(), "bc", steps=1)
    evil = replace(policies, config={**policies.config, "env": "antigravity:CartPole-v1"})
    with pytest.raises(FormatError, match="files may not choose a module"):
        evaluate(evil, episodes=1)
