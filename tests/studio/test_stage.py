"""A stage is one slot of a world, with actions that it can take."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.envs import make_vec
from counterbc.errors import OptionError
from counterbc.studio.stage import STAGES, Stage, missing_extra
from tests.studio.clients import f32

CORE = ("intersection", "cartpole", "air-hockey")


@pytest.mark.parametrize("world", CORE)
def test_a_stage_repeats_the_world_with_the_same_seed(world: str) -> None:
    stage, env = Stage(world), make_vec(world, 1)
    obs, _ = env.reset(seed=[7])  # type: ignore[arg-type]  # lists are taken
    np.testing.assert_array_equal(stage.begin(7), obs[0])
    for _ in range(5):
        action = stage.feasible(0.3 * np.ones(len(stage.low)))
        outcome = stage.step(action)
        after, reward, *_ = env.step(action[None])
        np.testing.assert_array_equal(outcome.obs, after[0])
        assert outcome.reward == float(reward[0])
        assert outcome.obs is stage.obs


def test_actions_are_projected_to_the_feasible_set() -> None:
    np.testing.assert_allclose(Stage("intersection").feasible([3.0, 4.0]), [0.6, 0.8], rtol=1e-6)
    np.testing.assert_array_equal(Stage("cartpole").feasible([5.0]), [1.0])
    inside = f32([0.1, -0.7])
    np.testing.assert_array_equal(Stage("air-hockey").feasible(inside), inside)


def test_an_episode_can_be_shorter_than_the_world_allows() -> None:
    stage = Stage("air-hockey", steps=3)
    stage.begin(0)
    zero = stage.feasible([0.0, 0.0])
    assert [stage.step(zero).over for _ in range(3)] == [False, False, True]


@pytest.mark.needs("gym_pusht")
def test_push_t_keeps_targets_in_pixels() -> None:
    stage = Stage("push-t")
    np.testing.assert_allclose(stage.feasible([100.0, 600.0]), [100.0, 512.0])
    stage.begin(1)
    assert "best_coverage" in stage.step(stage.feasible([10.0, 10.0])).measures


@pytest.mark.needs("envpool")
def test_car_racing_shows_images() -> None:
    stage = Stage("car-racing", steps=30)
    assert stage.begin(1).shape == (96, 96, 3)
    np.testing.assert_array_equal(stage.feasible([-2.0, -1.0, 0.5]), f32([-1, 0, 0.5]))
    stage.close()


def test_worlds_without_controls_are_refused() -> None:
    with pytest.raises(OptionError, match=r"unknown world 'can'; allowed: intersection"):
        Stage("can")


def test_core_worlds_need_no_extra() -> None:
    assert [missing_extra(world) for world in CORE] == [None] * 3
    assert set(STAGES) == {*CORE, "car-racing", "push-t"}


def test_a_world_that_is_not_installed_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterbc.studio.stage.find_spec", lambda name: None)
    assert missing_extra("push-t") == "pusht"
    assert missing_extra("car-racing") == "racing"
    assert missing_extra("cartpole") is None
