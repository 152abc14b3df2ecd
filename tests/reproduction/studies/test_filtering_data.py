"""Datasets whose corrupted episodes are known."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.envs import WORLDS
from reproduction.studies.filtering import FILTER_WORLDS
from reproduction.studies.filtering_data import (
    EPISODES,
    KINDS,
    LENGTHS,
    corrupt_dataset,
    record_late,
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("world", FILTER_WORLDS)
def test_a_dataset_has_as_many_corrupted_episodes_as_its_kind_says(world: str, kind: str) -> None:
    demos, is_bad = corrupt_dataset(world, kind, 7)
    assert len(demos) == len(is_bad) == EPISODES == sum(KINDS[kind].values())
    assert is_bad.sum() == EPISODES - KINDS[kind]["good"]
    assert demos.operators == ()
    low, high = LENGTHS.get(world, (1, WORLDS[world].steps))
    assert max(len(e) for e in demos.episodes) <= high
    assert np.mean([len(e) >= low for e in demos.episodes]) > 0.9
    repeat, _ = corrupt_dataset(world, kind, 7)
    assert repeat.fingerprint() == demos.fingerprint()


def test_corrupted_episodes_of_cartpole_are_as_long_as_good_ones() -> None:
    lengths: dict[bool, list[int]] = {False: [], True: []}
    for seed in range(8):
        demos, is_bad = corrupt_dataset("cartpole", "wrong goal", seed)
        for episode, bad in zip(demos.episodes, is_bad, strict=True):
            lengths[bool(bad)].append(len(episode))
    assert np.mean(lengths[True]) == pytest.approx(np.mean(lengths[False]), rel=0.15)


def test_late_actions_stand_where_later_ones_belong() -> None:
    action = np.arange(5.0)[:, None]
    np.testing.assert_array_equal(record_late(action, 2)[:, 0], [0, 0, 0, 1, 2])
    np.testing.assert_array_equal(record_late(action[:1], 3)[:, 0], [0])
