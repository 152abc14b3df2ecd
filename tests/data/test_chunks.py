"""Chunks of the next actions, and their scales."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from counterbc.data.chunks import fit_targets, next_actions
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.scaling import Scaling
from counterbc.errors import DataError
from tests.fixture_types import Make


def counted() -> Demonstrations:
    """Two episodes whose actions are 0 1 2 3 and 10 11 12."""
    episodes = (np.arange(4.0), 10 + np.arange(3.0))
    return Demonstrations(tuple(Episode(np.zeros((len(a), 1)), a[:, None]) for a in episodes))


def test_a_chunk_never_crosses_the_end_of_an_episode_and_holds_its_last_action() -> None:
    chunks = next_actions(counted(), (0.0,), 3)[..., 0]
    rows = [[0, 1, 2], [1, 2, 3], [2, 3, 3], [3, 3, 3], [10, 11, 12], [11, 12, 12], [12, 12, 12]]
    assert chunks.tolist() == rows


def test_with_a_lag_a_chunk_holds_the_actions_shown_that_much_later() -> None:
    chunks = next_actions(counted(), (1.0,), 2)[..., 0]
    answered = [0, 1, 2, 4, 5]  # the last pair of each episode has no action
    assert chunks[answered].tolist() == [[1, 2], [2, 3], [3, 3], [11, 12], [12, 12]]
    halves = next_actions(counted(), (0.5,), 2)[..., 0]
    assert halves[[0, 2]].tolist() == [[0.5, 1.5], [2.5, 2.5]]


def test_chunks_of_sampled_pairs_are_refused() -> None:
    sampled = replace(counted(), selected=np.array([0, 3]))
    assert next_actions(sampled, (0.0,), 1).shape == (7, 1, 1)
    with pytest.raises(DataError, match="horizon is 2, but these data are single pairs sampled"):
        next_actions(sampled, (0.0,), 2)


@pytest.mark.parametrize("relative", [(), (2, 0), (-1, 1)])
@pytest.mark.parametrize("standardize", [False, True])
def test_targets_are_restored_to_the_actions(
    relative: tuple[int, ...], standardize: bool, make_demos: Make
) -> None:
    demos = make_demos(action_low=np.array([-2.0, -4]), action_high=np.array([2.0, 8]))
    scales = replace(Scaling.fit(demos, True, True), relative=relative)
    scales = fit_targets(scales, demos, demos.learned, (0.0,), 4, standardize)
    actions = torch.tensor(next_actions(demos, (0.0,), 4), dtype=torch.float32)[None]
    obs = torch.tensor(demos.obs, dtype=torch.float32)[None]
    targets = scales.targets(actions, obs)
    assert targets.shape == (1, 40, 8)
    torch.testing.assert_close(scales.restore_targets(targets, obs), actions)
    if standardize:
        torch.testing.assert_close(targets.mean(1), torch.zeros(1, 8), atol=1e-5, rtol=0)
        torch.testing.assert_close(targets.std(1, correction=0), torch.ones(1, 8))


def test_a_relative_action_is_its_difference_to_the_observation_in_units_of_the_bounds() -> None:
    obs = np.array([[3.0, 100.0], [4.0, 100.0]])
    demos = Demonstrations(
        (Episode(obs, np.array([[5.0], [9.0]])),), np.array([0.0]), np.array([10.0])
    )
    scales = replace(Scaling.fit(demos, True, True), relative=(0,))
    targets = scales.targets(torch.tensor([[[[5.0]], [[9.0]]]]), torch.tensor(obs[None]).float())
    torch.testing.assert_close(targets, torch.tensor([[[0.4], [1.0]]]))  # (5 − 3) / 5, (9 − 4) / 5
