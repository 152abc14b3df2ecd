"""Whether an environment has the observations and actions of a training, before the work."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs import registration
from gymnasium.spaces import Box, Dict

from counterbc.acting import fit
from counterbc.acting.evaluation import check_environment
from counterbc.acting.fit import (
    Spaces,
    further_observations,
    reason_not_tested,
    simulator_options,
)
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.envs import make_vec
from counterbc.errors import OptionError
from tests.fixture_types import Train


class Parts(gymnasium.Env[Any, Any]):
    """An environment that observes a pose of two numbers and a goal of one."""

    action_space = Box(-1, 1, (1,), np.float32)
    observation_space = Dict({"pose": Box(-1, 1, (2,)), "goal": Box(-1, 1, (1,))})


gymnasium.register("tests/Parts-v0", f"{__name__}:Parts")


def demonstrations(actions: int = 1, **keys: int) -> Demonstrations:
    """Return random demonstrations with keys of the given widths."""
    rng, size = np.random.default_rng(0), sum(keys.values())
    episode = Episode(rng.normal(size=(20, size)), rng.uniform(-1, 1, (20, actions)))
    high = np.ones(actions)
    return Demonstrations((episode,), -high, high, obs_keys=tuple(keys.items()))


def reason(demos: Demonstrations, env: str = "tests/Parts-v0") -> str:
    return reason_not_tested(env, Spaces.of_data(demos), is_typed=True)


def test_policies_have_the_spaces_of_their_data(quick: Train) -> None:
    demos = demonstrations(pose=2, goal=1)
    policies: Policies = quick(demos, "bc", steps=2)
    ours, theirs = Spaces.of_policies(policies), Spaces.of_data(demos)
    assert ours.observed == theirs.observed
    assert (ours.obs_shape, ours.action_size) == (theirs.obs_shape, theirs.action_size)
    assert list(ours.obs_names) == list(theirs.obs_names)


def test_whole_parts_and_single_numbers_of_them_fit() -> None:
    assert reason(demonstrations(pose=2, goal=1)) == ""
    assert reason(demonstrations(pose_1=1, pose_0=1, goal=1)) == ""
    assert reason(demonstrations(state=4, actions=2), "intersection") == ""


@pytest.mark.parametrize(
    ("demos", "sentence"),
    [
        (demonstrations(pose=2, speed=1), "reads speed; train or compare with .* --obs pose$"),
        (demonstrations(pose_0=1, pose_2=1), "reads pose_2; train or .* --obs pose_0$"),
        (demonstrations(pose_1=1, pose_2=1), "pose are counted from 0.* rename them pose_0,"),
        (demonstrations(x=1, y=1), "columns named goal_0, goal_1, … are the numbers of goal"),
        (demonstrations(pose=3), "2 numbers in the environment and 3 in the training; train or"),
        (demonstrations(pose=1, goal=2), "pose has 2 numbers in the environment and 1 in the"),
        (demonstrations(pose=2, actions=2), "the actions of tests/Parts-v0 are Box.* vectors of 2"),
    ],
)
def test_what_does_not_fit_is_a_sentence(demos: Demonstrations, sentence: str) -> None:
    assert re.search(sentence, reason(demos))


def test_the_key_that_would_fit_is_named() -> None:
    demos = demonstrations(other=3, state=4, actions=2)
    assert reason(demos, "intersection").endswith("train or compare with --obs state, which fits")


def test_an_environment_that_cannot_be_made_is_explained() -> None:
    assert "unknown environment" in reason(demonstrations(pose=2), "Nowhere-v0")


def test_an_error_of_ours_is_not_blamed_on_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def check(*arguments: object) -> None:
        raise RuntimeError("of ours")

    monkeypatch.setattr(Spaces, "check", check)
    with pytest.raises(RuntimeError, match="of ours"):
        reason(demonstrations(pose=2, goal=1))


def recorded_with(backend: str, env: str = "counterbc/Intersection-v0") -> Spaces:
    env_args = {"env_name": env, "env_kwargs": {"backend": backend}}
    return Spaces.of_data(replace(demonstrations(state=4, actions=2), env_args=env_args))


def test_policies_act_in_the_simulator_of_their_demonstrations() -> None:
    spaces = recorded_with("fast")
    assert simulator_options(spaces, "intersection", {}) == {"backend": "fast"}
    assert simulator_options(spaces, "cartpole", {}) == {}
    assert simulator_options(recorded_with("fast", "CartPole-v1"), "CartPole-v1", {}) == {}
    with pytest.raises(OptionError, match="recorded in intersection with fast; exact renders"):
        simulator_options(spaces, "intersection", {"backend": "exact"})


def test_the_simulator_that_is_checked_is_that_of_the_demonstrations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options_seen = []

    def make(env: str, num_envs: int, **options: Any) -> Any:
        options_seen.append(options)
        return make_vec(env, num_envs)

    monkeypatch.setattr(fit, "make_vec", make)
    assert reason_not_tested("intersection", recorded_with("fast"), is_typed=True) == ""
    assert options_seen == [{"backend": "fast"}]


def test_a_world_is_asked_for_the_observations_that_were_recorded() -> None:
    assert further_observations("car-racing", ("image", "speed")) == {"speed": True}
    assert further_observations("car-racing", ("image",)) == {}
    assert further_observations("tests/Parts-v0", ("speed",)) == {}


def test_an_environment_is_made_once_to_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    instances = []

    class Counted(Parts):
        def __init__(self, **options: Any) -> None:
            instances.append(self)

    spec = registration.EnvSpec("tests/Counted-v0", Counted)
    monkeypatch.setitem(registration.registry, spec.id, spec)
    check_environment("tests/Counted-v0", demonstrations(pose=2, goal=1))
    assert len(instances) == 1
    check_environment("tests/Counted-v0")
    assert len(instances) == 2
