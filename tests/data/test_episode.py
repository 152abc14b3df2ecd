"""Episodes are checked when they are made, and cannot be changed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

import counterbc.data.episode
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.fingerprint import episode_digest
from counterbc.errors import DataError
from tests.data.datasets import episode


def test_an_episode_is_float32_and_cannot_be_changed() -> None:
    obs = np.zeros((2, 3))
    e = Episode(obs=obs, action=[[1], [2]])  # type: ignore[arg-type]  # lists are read too
    obs[0, 0] = 9
    assert e.obs.dtype == e.action.dtype == np.float32
    assert e.obs[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        e.obs[0, 0] = 1
    with pytest.raises(FrozenInstanceError):
        e.operator = "ann"  # type: ignore[misc]  # that it is refused is the point


def test_images_stay_uint8_and_vectors_of_uint8_become_float32() -> None:
    image = Episode(obs=np.zeros((2, 4, 4, 3), np.uint8), action=np.zeros((2, 1)))
    vector = Episode(obs=np.zeros((2, 4), np.uint8), action=np.zeros((2, 1)))
    assert image.obs.dtype == np.uint8
    assert vector.obs.dtype == np.float32


def test_success_from_numpy_is_a_plain_bool() -> None:
    assert episode(success=np.True_).success is True


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"obs": [[0.0], [np.nan]]}, "obs of an episode has 1 values that are NaN .* row 1"),
        ({"action": [[np.inf], [0.0]]}, "action of an episode has 1 values that are NaN or infin"),
        ({"obs": [[1e300], [0.0]]}, "NaN or infinite"),
        ({"obs": np.zeros((3, 1))}, "3 observations but 2 actions"),
        ({"obs": np.zeros((0, 1)), "action": np.zeros((0, 1))}, "is empty"),
        ({"obs": np.zeros(2)}, r"obs of an episode has shape \(2,\)"),
        ({"obs": np.zeros((2, 0))}, r"shape \(2, 0\)"),
        ({"obs": np.zeros((2, 4, 4, 3))}, "uint8"),
        ({"obs": np.zeros((2, 4, 4), np.uint8)}, r"shape \(2, 4, 4\)"),
        ({"action": np.zeros(2)}, r"action of an episode has shape \(2,\)"),
        ({"action": np.zeros((2, 0))}, "A > 0"),
        ({"obs": [[1.0], [1.0, 2.0]]}, "cannot be read as numbers"),
        ({"obs": [["left"], ["right"]]}, "cannot be read as numbers"),
        ({"reward": np.zeros(3)}, r"reward of an episode has shape \(3,\); expected \(2,\)"),
        ({"reward": [0.0, np.nan]}, "reward of an episode has 1 values that are NaN"),
    ],
)
def test_a_bad_episode_is_refused_in_words(fields: dict[str, Any], sentence: str) -> None:
    good = {"obs": np.zeros((2, 1)), "action": np.zeros((2, 1))}
    with pytest.raises(DataError, match=sentence):
        Episode(**(good | fields))


def test_a_bad_episode_is_called_by_its_name() -> None:
    with pytest.raises(DataError, match="episode 'monday'"):
        Episode(obs=np.zeros((2, 1)), action=np.zeros((1, 1)), name="monday")


def test_an_episode_shows_its_operator_success_and_return() -> None:
    text = repr(episode(3, operator="ann", success=True, reward=[1, 1, 0.5], name="demo_4"))
    assert text == "Episode(demo_4, 3 pairs, operator 'ann', success True, return 2.5)"


def test_the_digest_of_an_episode_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*arrays: Any) -> bytes:
        calls.append(arrays)
        return episode_digest(*arrays)

    monkeypatch.setattr(counterbc.data.episode, "episode_digest", counted)
    episodes = [Episode(np.full((3, 2), i), np.ones((3, 1)), name=str(i)) for i in range(4)]
    demos = Demonstrations(tuple(episodes))
    first = demos.fingerprint()
    assert first == demos.fingerprint()
    assert len(calls) == 4
    changed = demos.map_actions(lambda action: action + 1)
    assert changed.fingerprint() != first
    assert len(calls) == 8
    assert episodes[0].digest == episode_digest(episodes[0].obs, episodes[0].action, None)
