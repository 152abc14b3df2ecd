"""A ranking is printed only where the data can tell."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from counterbc.diagnosis.ranking_text import ranking_lines, warn_if_untold
from counterbc.diagnosis.scores import Score
from counterbc.errors import CannotTell
from counterbc.selection.shares import Explained, Share

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
    with pytest.warns(CannotTell, match="too little of the actions is explained, so it rains;"):
        warn_if_untold(UNEXPLAINED, "it rains")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_untold(EXPLAINED, "it rains")
