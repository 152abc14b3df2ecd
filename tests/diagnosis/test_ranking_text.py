"""A ranking is printed only where the data can tell."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import counterbc as cb
from counterbc.diagnosis.ranking_text import ranking_lines, warn_if_untold
from counterbc.diagnosis.scores import Score
from counterbc.errors import CannotTell, DataError
from counterbc.selection.shares import Explained, Share
from tests.fixture_types import Make

LOW, HIGH = Share(0.05, 0.0, 0.1), Share(0.5, 0.4, 0.6)
EXPLAINED = Explained(HIGH, (HIGH,), ("a",))
UNEXPLAINED = Explained(LOW, (LOW,), ("a",))


def _score(name: str, distance: float) -> Score:
    zero: dict[str, Any] = dict.fromkeys(("low", "high", "noise", "persistent", "odd"), 0.0)
    facts: dict[str, Any] = {"operator": None, "episodes": 1, "pairs": 9, "kinematics": {}}
    return Score(name=name, distance=distance, **zero, **facts, per_dimension=(), bias=())


def test_the_worst_episode_is_named_first_where_the_data_can_tell() -> None:
    episodes = [_score("good", 0.1), _score("bad", 0.5)]
    assert ranking_lines(EXPLAINED, episodes, []) == [
        "  worst      bad 0.500, good 0.100",
        "  operators  not recorded",
    ]


def test_no_episode_is_named_where_the_data_cannot_tell() -> None:
    lines = ranking_lines(UNEXPLAINED, [_score("bad", 0.5)], [_score("ann", 0.5)])
    assert lines[0].startswith("  Cannot tell: of the actions' variance, 5 % [0, 10] is explained")
    assert lines[1].startswith("  Add the observations")
    assert "bad" not in lines[0] + lines[1]


def test_a_warning_says_why_and_what_follows_only_where_the_data_cannot_tell() -> None:
    text = f"too little of the actions is explained, so it rains. {UNEXPLAINED.remedy}."
    with pytest.warns(CannotTell, match=re.escape(text)):
        warn_if_untold(UNEXPLAINED, "it rains")
    with pytest.warns(CannotTell, match="too few pairs to tell .*, so it rains. Record more epis"):
        warn_if_untold(None, "it rains")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_untold(EXPLAINED, "it rains")


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_too_few_pairs_are_printed_and_cleaned_with_a_warning(make_demos: Make) -> None:
    demos = make_demos(episodes=3, length=8)
    held_out = cb.HeldOut(folds=2, repeats=1, rounds=1)
    meaning = cb.meaning(
        demos, radius=0.4, lag=6.0, offsets="none", held_out=held_out, hidden=(16,), steps=20,
        device="cpu", progress=False,
    )  # fmt: skip
    with pytest.raises(DataError):
        _ = meaning.explained
    assert "Cannot tell: too few pairs to tell a good demonstration from a bad one" in repr(meaning)
    with pytest.warns(CannotTell, match="too few pairs to tell") as caught_warnings:
        cleaned_demos = meaning.cleaned
    assert caught_warnings[0].filename == __file__
    assert np.array_equal(cleaned_demos.action, meaning.meant.astype(np.float32))
