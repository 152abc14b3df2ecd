"""Scales between the user's units and the policy's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.scaling import Scaling
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.formats import load


def dataset(obs: Any, action: Any, **fields: Any) -> Demonstrations:
    return Demonstrations((Episode(obs=np.array(obs), action=np.array(action)),), **fields)


def bounded_demos(action: Any, low: Any, high: Any, **fields: Any) -> Demonstrations:
    obs = np.arange(len(action))[:, None]
    return dataset(obs, action, action_low=np.array(low), action_high=np.array(high), **fields)


def fit(demos: Demonstrations, obs: bool = True, actions: bool = True) -> Scaling:
    return Scaling.fit(demos, scale_obs=obs, scale_actions=actions)


@pytest.fixture
def _every_warning() -> Iterator[None]:
    """torch says some things once per process; here it says them always."""
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


def test_observations_are_standardized_by_hand() -> None:
    scales = fit(dataset([[1, 10], [3, 10], [5, 10]], np.zeros((3, 1))))
    assert scales.obs_mean.tolist() == [[3, 10]]
    # The population's standard deviation of 1, 3, 5; a constant dimension is only moved.
    assert scales.obs_scale.tolist() == [pytest.approx([np.sqrt(8 / 3), 1])]
    scaled_obs = scales.obs(torch.tensor([[[5.0, 10.0], [3.0, 11.0]]]))
    assert scaled_obs[0].tolist() == [pytest.approx([2 / np.sqrt(8 / 3), 0]), pytest.approx([0, 1])]


def test_a_dimension_that_is_constant_but_for_rounding_is_constant() -> None:
    obs = np.full((50, 1), 1000.0) + np.random.default_rng(0).choice([0, 6e-5], (50, 1))
    assert fit(dataset(obs, np.zeros((50, 1)))).obs_scale.tolist() == [[1]]


def test_actions_are_mapped_by_their_bounds_by_hand() -> None:
    scales = fit(bounded_demos([[0.0, 0.0]], [0, -10], [4, 10]))
    scaled_action = scales.action(torch.tensor([[[0.0, -10.0], [4.0, 10.0], [3.0, 5.0]]]))
    assert scaled_action.tolist() == [[[-1, -1], [1, 1], [0.5, 0.5]]]
    assert scales.bounds_from == "declared"


@pytest.mark.parametrize("actions", [True, False])
def test_feasible_actions_come_back_as_they_were(actions: bool) -> None:
    scales = fit(bounded_demos([[0.0, 0.0]], [0, -10], [4, 10]), actions=actions)
    raw_actions = torch.tensor([[[0.0, -10.0], [4.0, 10.0], [1.3, 7.1]]])
    torch.testing.assert_close(scales.restore(scales.action(raw_actions)), raw_actions)


def test_keys_are_equal_where_the_scales_of_members_are() -> None:
    demos = [demonstrate("intersection", UniformNoise(0.3), 50, seed=seed) for seed in (0, 1)]
    first, second = (Scaling.fit(d, scale_obs=True, scale_actions=True) for d in demos)
    keys = Scaling.stack([first, second, first]).keys()
    assert keys[0] == keys[2] == first.keys()[0]
    assert keys[0] != keys[1]


def test_each_member_has_scales_of_its_own() -> None:
    first_demos, two = bounded_demos([[0.0]], [0], [4]), bounded_demos([[0.0]], [-1], [1])
    scales = Scaling.stack([fit(first_demos), fit(two)])
    raw_actions = torch.tensor([[[4.0], [2.0]], [[1.0], [0.5]]])  # (P, E, A)
    assert scales.action(raw_actions).flatten(1).tolist() == [[1, 0], [1, 0.5]]
    assert torch.equal(scales.restore(scales.action(raw_actions)), raw_actions)


def test_actions_without_bounds_take_the_range_of_the_data() -> None:
    action = np.stack([np.linspace(0, 100, 101), np.full(101, 7.0)], axis=1)
    scales = fit(dataset(np.zeros((101, 1)), action))
    assert scales.bounds_from == "data"
    assert scales.action_low.tolist() == [pytest.approx([1, 6])]
    assert scales.action_high.tolist() == [pytest.approx([99, 8])]


def test_actions_beyond_the_bounds_are_brought_to_the_nearest_when_acting() -> None:
    box = fit(bounded_demos([[0.0, 0.0]], [0, -10], [4, 10]))
    assert box.restore(torch.tensor([[[2.0, -0.5]]])).tolist() == [[[4, -5]]]
    assert box.project(torch.tensor([[[9.0, -20.0]]])).tolist() == [[[4, -10]]]


def test_the_ball_is_the_ellipse_that_touches_the_bounds() -> None:
    ball = fit(bounded_demos([[0.0, 0.0]], [0, -10], [4, 10], action_set="ball"))
    # (3, 4) has length 5 in the policy's units, so it becomes (0.6, 0.8).
    restored_actions = ball.restore(torch.tensor([[[3.0, 4.0], [0.6, 0.0]]]))
    assert restored_actions[0].tolist() == [pytest.approx([3.2, 8]), pytest.approx([3.2, 0])]
    assert ball.project(torch.tensor([[[8.0, 40.0]]]))[0].tolist() == [pytest.approx([3.2, 8])]


def test_raw_units_pass_through_and_are_still_limited_when_acting() -> None:
    demos = bounded_demos([[0.0, 0.0]], [0, -10], [4, 10])
    scales = fit(demos, obs=False, actions=False)
    raw_actions = torch.tensor([[[3.0, -20.0]]])
    assert torch.equal(scales.action(raw_actions), raw_actions)
    assert scales.restore(raw_actions).tolist() == [[[3, -10]]]
    assert torch.equal(scales.obs(torch.tensor([[[5.0]]])), torch.tensor([[[5.0]]]))


def test_only_pairs_that_are_learned_from_decide_the_scales() -> None:
    demos = dataset([[0], [100], [2]], [[0], [9], [1]], selected=np.array([0, 2]))
    scales = fit(demos)
    assert scales.obs_mean.tolist() == [[1]]
    assert scales.action_high.item() < 1.01


def test_images_stay_the_bytes_they_are() -> None:
    image = Episode(obs=np.full((2, 4, 4, 3), 9, np.uint8), action=np.zeros((2, 1)))
    scales = fit(Demonstrations((image,)))
    assert (scales.obs_mean.tolist(), scales.obs_scale.tolist()) == ([[0]], [[1]])
    frames = torch.tensor(image.obs).flatten(1)[None]
    assert torch.equal(scales.obs(frames), frames)


@pytest.mark.usefixtures("_every_warning")
def test_frozen_bounds_become_tensors_without_a_warning() -> None:
    fit(bounded_demos([[0.0]], [0], [4]))


@pytest.mark.usefixtures("_every_warning")
def test_a_selection_becomes_a_tensor_without_a_warning(
    tiny: Demonstrations, quick: Callable[..., Any]
) -> None:
    quick(Demonstrations(tiny.episodes).sample_pairs(9, seed=0), "bc", steps=1)


def test_a_rarely_used_dimension_is_scaled_by_its_full_range_and_the_others_as_before() -> None:
    rng = np.random.default_rng(0)
    action = rng.normal(size=(1000, 2)).astype(np.float32)
    action[:, 1] = 0
    action[500:504, 1] = 1
    demos = Demonstrations((Episode(np.zeros((1000, 1)), action),))
    scales = Scaling.fit(demos, scale_obs=True, scale_actions=True)
    usual = np.percentile(action[:, 0], [1, 99])
    assert [float(scales.action_low[0, 1]), float(scales.action_high[0, 1])] == [0, 1]
    assert np.allclose([scales.action_low[0, 0], scales.action_high[0, 0]], usual, rtol=1e-6)
    assert scales.bounds_from == "data, full range of rarely used dimensions"


@pytest.mark.parametrize("name", ["pusht_human_206.hdf5", "adroit_door_human_25.hdf5"])
def test_real_recordings_are_scaled_as_before_there_was_that_rule(name: str, data: Path) -> None:
    demos = load(data / name)
    scales = Scaling.fit(demos, scale_obs=True, scale_actions=True)
    low, high = np.percentile(demos.action, [1, 99], axis=0)
    assert np.array_equal(scales.action_low[0].numpy(), low.astype(np.float32))
    assert np.array_equal(scales.action_high[0].numpy(), high.astype(np.float32))
    assert scales.bounds_from == "data"


@pytest.mark.parametrize("world", ["intersection", "cartpole", "air-hockey"])
def test_our_worlds_declare_their_bounds_so_that_the_rule_never_applies(world: str) -> None:
    demos = demonstrate(world, UniformNoise(0.3), 50, seed=0)
    assert Scaling.fit(demos, scale_obs=True, scale_actions=True).bounds_from == "declared"
