"""The fingerprint of a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterbc.data.fingerprint import dataset_fingerprint, episode_digest

OBS, ACTION = np.zeros((3, 2), np.float32), np.ones((3, 1), np.float32)
FACTS: dict[str, Any] = {"low": None, "high": None, "selected": None, "action_set": "box"}


def test_arrays_of_another_shape_have_another_digest() -> None:
    assert episode_digest(OBS, ACTION, None) != episode_digest(OBS.reshape(2, 3), ACTION, None)


def test_the_layout_in_memory_does_not_count() -> None:
    fortran = np.asfortranarray(OBS + np.arange(2, dtype=np.float32))
    assert episode_digest(fortran, ACTION, None) == episode_digest(fortran.copy("C"), ACTION, None)


@pytest.mark.parametrize(
    "change",
    [
        {"low": np.zeros(1)},
        {"high": np.ones(1)},
        {"selected": np.arange(2)},
        {"action_set": "ball"},
        {"actions_are": "taken"},
        {"relative": "agent"},
        {"angles": (1,)},
    ],
)
def test_bounds_and_selection_count(change: dict[str, Any]) -> None:
    episodes = [(episode_digest(OBS, ACTION, None), "ada", True)]
    assert dataset_fingerprint(episodes, **FACTS) != dataset_fingerprint(
        episodes, **(FACTS | change)
    )


def test_actions_asked_count_as_those_not_declared_since_nothing_is_censored() -> None:
    asked = dataset_fingerprint([], **FACTS, actions_are="asked")
    assert asked == dataset_fingerprint([], **FACTS)


def test_absolute_actions_count_as_those_not_declared() -> None:
    assert dataset_fingerprint([], **FACTS, relative="none") == dataset_fingerprint([], **FACTS)


def test_operator_and_success_count() -> None:
    digest = episode_digest(OBS, ACTION, None)
    prints = {
        dataset_fingerprint([(digest, operator, success)], **FACTS)
        for operator in ("ada", None)
        for success in (True, None)
    }
    assert len(prints) == 4
