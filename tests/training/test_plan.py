"""Training plans: members, their pairs and their scales."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError
from counterbc.methods import METHODS, Method
from counterbc.policies import Chunk
from counterbc.settings import Settings
from counterbc.training.plan import plan_training, seed_members
from tests.fixture_types import Make, Train


def test_each_radius_has_all_seeds_and_each_seed_its_dataset(make_demos: Make) -> None:
    datasets = [make_demos(seed=0), make_demos(seed=1)]
    members = seed_members(datasets, [7, 8], [[0.1, 0.2], [0.3, (0.4, 0.0)]])
    assert [(m.seed, m.dataset) for m in members] == [(7, 0), (8, 1), (7, 0), (8, 1)]
    assert [m.radius for m in members] == [(0.1, 0.1), (0.2, 0.2), (0.3, 0.3), (0.4, 0.0)]
    assert [m.fingerprint for m in members[:2]] == [d.fingerprint() for d in datasets]


def test_members_share_one_dataset_where_there_is_one(tiny: Demonstrations) -> None:
    assert [m.dataset for m in seed_members([tiny], range(3), [[0.0]])] == [0, 0, 0]


def test_a_radius_that_is_still_to_be_chosen_is_refused(tiny: Demonstrations) -> None:
    with pytest.raises(OptionError, match="radius is 'auto'; it must be a number"):
        seed_members([tiny], [0], [["auto"]])


def test_a_plan_cannot_be_changed(tiny: Demonstrations) -> None:
    plan = plan_training([tiny], METHODS["bc"], Settings(), seed_members([tiny], [0], [[0.0]]))
    with pytest.raises(FrozenInstanceError):
        plan.name = "other"  # type: ignore[misc]  # on purpose


def test_members_learn_from_all_selected_pairs_unless_lists_say_otherwise(
    tiny: Demonstrations,
) -> None:
    subset = tiny.sample_pairs(12, seed=0)
    members = seed_members([subset], [0], [[0.0]])
    plan = plan_training([subset], METHODS["bc"], Settings(), members)
    assert plan.lists[0].tolist() == subset.learned.tolist()
    lists = [np.array([3, 5])]
    assert (
        plan_training([subset], METHODS["bc"], Settings(), members, lists=lists).lists[0]
        is lists[0]
    )


def test_actions_are_standardized_by_the_pairs_that_a_member_learns_from(make_demos: Make) -> None:
    demos = make_demos(episodes=3)
    members = seed_members([demos], [0, 1, 2], [[0.0]])
    lists = [np.arange(10), np.arange(10, 30), np.arange(30)]
    method = Method(policy=Chunk(horizon=1, execute=1))
    scales = plan_training([demos], method, Settings(), members, lists=lists).scales
    for row, pairs in zip(scales.target_mean, lists, strict=True):
        np.testing.assert_allclose(row, demos.action[pairs].mean(0), rtol=1e-4, atol=1e-6)
    whole = plan_training([demos], method, Settings(), members).scales
    np.testing.assert_allclose(whole.target_mean[0], scales.target_mean[2], rtol=1e-6)


def test_scales_are_those_of_the_dataset_or_of_the_start(make_demos: Make, quick: Train) -> None:
    demos, other_demos = make_demos(seed=0), make_demos(seed=1)
    members = seed_members([other_demos], [0], [[0.0]])
    fresh = plan_training([other_demos], METHODS["bc"], Settings(), members)
    np.testing.assert_allclose(fresh.scales.obs_mean[0], other_demos.obs.mean(0), atol=1e-6)
    start = quick(demos, "bc", steps=1)
    plan = plan_training([other_demos], METHODS["bc"], Settings(), members, start=start)
    assert torch.equal(plan.scales.obs_mean, start.scales.obs_mean)


def test_operators_are_numbered_over_all_episodes(make_demos: Make) -> None:
    demos = make_demos()
    members = seed_members([demos], [0], [[0.0]])
    first, last = demos.subset(episodes=[0]), demos.subset(episodes=[1])
    plan = plan_training([first], METHODS["ileed"], Settings(), members, held_out=(last,))
    assert plan.operators == ("ada", "bob")
