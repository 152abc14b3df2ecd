"""Datasets of Can whose corrupted episodes are known."""

from __future__ import annotations

import numpy as np
import pytest

import counterbc as cb
from counterbc.envs.can.expert import BIN, CAN, HAND
from reproduction.studies.filtering_can import (
    ASIDE,
    OtherBin,
    corrupt_can,
    finished_episodes,
    last_step,
    people,
    seen_aside,
)
from reproduction.studies.filtering_data import KINDS


def test_only_a_can_that_is_carried_is_seen_aside() -> None:
    obs = np.zeros((2, 23), np.float32)
    obs[:, CAN] = [0.1, -0.2, 0.85]
    obs[0, HAND] = [0.0, -0.1, 1.0]  # on the way to the can
    obs[1, CAN] = obs[1, HAND] = [0.0, 0.45, 1.0]  # over the bin
    seen = seen_aside(obs)
    np.testing.assert_array_equal(seen[0], obs[0])
    np.testing.assert_allclose((seen - obs)[1, [0, 14]], ASIDE, rtol=1e-5)
    assert np.count_nonzero(seen - obs) == 2


def test_an_episode_ends_when_the_can_lies_in_the_other_bin_and_the_hand_has_left() -> None:
    obs = np.zeros((5, 23), np.float32)
    obs[:, CAN] = [0.0, 0.4, 0.86]
    obs[:, HAND] = [0.0, 0.4, 1.05]
    obs[0, CAN] = [0.0, 0.4, 1.05]  # carried
    obs[1, CAN] = [0.0, -0.2, 0.85]  # in the bin that it came from
    obs[2, HAND] = [0.0, 0.4, 0.88]  # held
    action = np.zeros((5, 7), np.float32)
    assert last_step(cb.Episode(obs, action), is_aside=True) == 3
    assert last_step(cb.Episode(obs[:3], action[:3]), is_aside=True) is None
    failed = cb.Episode(obs, action, reward=np.zeros(5, np.float32))
    assert last_step(failed, is_aside=False) is None


def test_operators_of_the_corruptions_differ_in_one_habit() -> None:
    operators = people()
    assert operators["noisy"].wobble == 2 * operators["good"].wobble
    assert isinstance(operators["wrong goal"], OtherBin)
    assert operators["wrong goal"].wobble == operators["good"].wobble


@pytest.mark.slow
@pytest.mark.extra("robosuite")
def test_cans_are_dropped_in_the_bin_that_was_wanted() -> None:
    operators = people()
    for sort, x in (("good", BIN[0]), ("wrong goal", BIN[0] - ASIDE)):
        episodes = finished_episodes(operators[sort], 2, 7)
        assert len(episodes) == 2
        for episode in episodes:
            assert episode.obs[-1, 0] == pytest.approx(x, abs=0.05)
            assert 100 < len(episode) < 350


@pytest.mark.slow
@pytest.mark.extra("robosuite")
def test_a_dataset_of_can_has_as_many_corrupted_episodes_as_its_kind_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(KINDS, "few", {"good": 2, "shifted": 1})
    demos, is_bad = corrupt_can("few", 7)
    assert len(demos) == 3
    assert is_bad.sum() == 1
    assert demos.operators == ()
