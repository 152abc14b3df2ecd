"""Environments as users have them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict
from gymnasium.vector import SyncVectorEnv

from counterbc.acting.evaluation import evaluate
from counterbc.acting.policies import Policies
from counterbc.acting.rollout import start_seeds
from counterbc.acting.video import film
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import CounterBCError
from tests.fixture_types import Train


class Reach(gymnasium.Env[Any, Any]):
    """A point that moves by the action, for five steps; success is reported in `info`."""

    action_space = Box(-1, 1, (1,), np.float32)
    observation_space = Dict({"goal": Box(-1, 1, (2,)), "place": Box(-9, 9, (1,))})
    closed = 0

    def __init__(self, start: float = 0.0) -> None:
        self.start = start

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.time = self.start + self.np_random.uniform(-0.1, 0.1), 0
        return self._obs(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.place += float(action[0])
        self.time += 1
        info = {"success": self.place > 0, "distance": abs(self.place), "text": "no number"}
        return self._obs(), -abs(self.place), False, self.time == 5, info

    def close(self) -> None:
        self.closed += 1

    def _obs(self) -> dict[str, Any]:
        goal = np.array([0.5, -0.5], np.float32)
        return {"goal": goal, "place": np.array([self.place], np.float32)}


@pytest.fixture(scope="module")
def reachers(quick: Train) -> Policies:
    rng = np.random.default_rng(0)
    obs = rng.uniform(-1, 1, (60, 3))
    demos = Demonstrations(
        (Episode(obs, -0.5 * obs[:, :1]),), -np.ones(1), np.ones(1),
        obs_keys=(("place", 1), ("goal", 2)),
    )  # fmt: skip
    return quick(demos, "bc", seeds=2, steps=50)


def _many(count: int) -> SyncVectorEnv:
    return SyncVectorEnv([Reach] * count)


@pytest.mark.parametrize("env", [Reach, partial(Reach, 0.0), lambda: Reach(), _many, Reach()])
def test_classes_factories_and_instances_earn_the_same(reachers: Policies, env: Any) -> None:
    expected = evaluate(reachers, _many, episodes=3, progress=False)
    result = evaluate(reachers, env, episodes=3, progress=False)
    assert np.allclose(result.returns, expected.returns)
    assert set(result.measures) == {"success", "distance"}
    assert result.measures["success"].shape == (2, 3)


def test_an_instance_stays_open(reachers: Policies) -> None:
    env = Reach()
    evaluate(reachers, env, episodes=2, progress=False)
    assert env.closed == 0


def test_options_reach_a_class(reachers: Policies) -> None:
    near = evaluate(reachers, Reach, episodes=2, progress=False)
    far = evaluate(reachers, Reach, episodes=2, progress=False, start=5.0)
    assert (far.returns < near.returns).all()


def test_keys_that_the_environment_does_not_observe_are_named(quick: Train) -> None:
    obs = np.random.default_rng(0).uniform(-1, 1, (40, 3))
    demos = Demonstrations((Episode(obs, obs[:, :1]),), obs_keys=(("place", 1), ("speed", 2)))
    policies = quick(demos, "bc", steps=2)
    with pytest.raises(CounterBCError, match="observes goal, place, and the training reads speed"):
        evaluate(policies, Reach, episodes=1, progress=False)


def test_an_environment_that_is_refused_is_closed(lookers: Policies) -> None:
    instances: list[Reach] = []

    def make() -> Reach:
        instances.append(Reach())
        return instances[-1]

    with pytest.raises(CounterBCError, match="reads top"):
        evaluate(lookers, make, episodes=1, progress=False)
    assert [env.closed for env in instances] == [1]


class Drawn(Reach):
    """The same, drawn as a grey picture."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012  # as gymnasium has it

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__()
        self.render_mode = render_mode

    def render(self) -> Any:
        return np.full((8, 8, 3), round(100 + 10 * self.place), np.uint8)


gymnasium.register("tests/Reach-v0", f"{__name__}:Reach")
gymnasium.register("tests/Drawn-v0", f"{__name__}:Drawn")


def test_a_film_reads_dict_observations(reachers: Policies, tmp_path: Path) -> None:
    film(reachers, "tests/Drawn-v0", tmp_path / "film.gif", episodes=1)
    assert (tmp_path / "film.gif").stat().st_size > 0


@pytest.mark.filterwarnings("ignore:.*render_mode:UserWarning")
def test_an_environment_without_render_mode_cannot_be_filmed(
    reachers: Policies, tmp_path: Path
) -> None:
    with pytest.raises(CounterBCError, match=r"cannot be filmed .* must take render_mode"):
        film(reachers, "tests/Reach-v0", tmp_path / "film.gif")


class Look(Reach):
    """The same point, seen by a camera as well."""

    observation_space = Dict({
        "top": Box(0, 255, (36, 36, 3), np.uint8), "place": Box(-9, 9, (1,)),
    })  # fmt: skip

    def _obs(self) -> dict[str, Any]:
        return {
            "place": np.array([self.place], np.float32),
            "top": np.full((36, 36, 3), 20 * self.time, np.uint8),
        }


@pytest.fixture(scope="module")
def lookers(quick: Train) -> Policies:
    rng = np.random.default_rng(0)
    obs = rng.uniform(-1, 1, (60, 1))
    images = {"top": rng.integers(0, 256, (60, 36, 36, 3), np.uint8)}
    demos = Demonstrations(
        (Episode(obs, -0.5 * obs, images=images),), -np.ones(1), np.ones(1),
        obs_keys=(("place", 1),),
    )  # fmt: skip
    return quick(demos, "bc", seeds=2, steps=3, hidden=(8,), lag=0.0)


def test_images_and_vectors_of_a_dict_are_read_together(lookers: Policies) -> None:
    result = evaluate(lookers, Look, episodes=2, progress=False)
    assert np.isfinite(result.returns).all()
    actor, env = lookers[0].actor(), Look()
    obs, _ = env.reset(seed=start_seeds(lookers, [0, 1], 0)[0])
    total, over = 0.0, False
    while not over:
        obs, reward, _, over, _ = env.step(actor.act(obs))
        total += reward
    np.testing.assert_allclose(total, result.returns[0, 0], rtol=1e-4)


def test_images_are_resized_as_they_were_for_the_training(lookers: Policies) -> None:
    class Large(Look):
        observation_space = Dict({
            "top": Box(0, 255, (72, 72, 3), np.uint8), "place": Box(-9, 9, (1,)),
        })  # fmt: skip

        def _obs(self) -> dict[str, Any]:
            obs = super()._obs()
            return obs | {"top": obs["top"].repeat(2, 0).repeat(2, 1)}

    config = lookers.config | {"image_size": [36, 36]}
    resizing_policies = replace(lookers, config=config)
    pairs = ((lookers, Look), (resizing_policies, Large), (resizing_policies, Look))
    results = [evaluate(p, env, episodes=1, progress=False) for p, env in pairs]
    for result in results[1:]:
        np.testing.assert_array_equal(result.returns, results[0].returns)
    large, _ = Large().reset(seed=0)
    small, _ = Look().reset(seed=0)
    actions = [resizing_policies[0].actor().act(obs) for obs in (large, small)]
    np.testing.assert_array_equal(actions[0], actions[1])


def test_a_camera_that_is_missing_or_different_is_one_sentence(lookers: Policies) -> None:
    with pytest.raises(CounterBCError, match=r"reads top; train or compare .* --obs place"):
        evaluate(lookers, Reach, episodes=1, progress=False)

    class Small(Look):
        observation_space = Dict({
            "top": Box(0, 255, (40, 40, 3), np.uint8), "place": Box(-9, 9, (1,)),
        })  # fmt: skip

    with pytest.raises(CounterBCError, match="the training reads images of 36×36×3 in uint8"):
        evaluate(lookers, Small, episodes=1, progress=False)
    with pytest.raises(CounterBCError, match="has top 36×36×3 and a vector of 1 numbers"):
        evaluate(lookers, "intersection", episodes=1, progress=False)
