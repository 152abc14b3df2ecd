"""Which episodes are excluded by default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.diagnosis.exclusion import find_outliers, outlying, why_none
from counterbc.diagnosis.meaning import meaning
from counterbc.diagnosis.scores import Score
from counterbc.errors import CannotTell
from counterbc.selection.held_out import HeldOut
from counterbc.selection.shares import Explained

QUICK = HeldOut(repeats=1, folds=3, steps=150)


def _scores(distances: Sequence[float], half: float = 0.05) -> list[Score]:
    """Return scores with these distances and intervals of this half width."""
    zero: dict[str, Any] = dict.fromkeys(("noise", "persistent", "odd"), 0.0)
    facts: dict[str, Any] = {"operator": None, "episodes": 1, "pairs": 9, "kinematics": {}}
    facts |= {"per_dimension": (), "bias": ()}
    return [
        Score(name=f"{i}", distance=d, low=d - half, high=d + half, **zero, **facts)
        for i, d in enumerate(distances)
    ]


def test_distances_far_above_the_median_are_outliers() -> None:
    middle = np.linspace(0.9, 1.1, 21).tolist()  # median 1, robust deviation 1.4826 · 0.05
    assert outlying(_scores(middle)) == []
    assert outlying(_scores([2.0, *middle, 1.35])) == [0, 22]
    assert outlying(_scores([2.0, *middle, 1.35]), level=5) == [0]
    assert outlying(_scores([*middle, np.nan])) == []


def test_an_outlier_is_clearly_above_the_median() -> None:
    middle = np.linspace(0.9, 1.1, 21).tolist()
    assert outlying(_scores([2.0, *middle, 1.35], half=0.5)) == [0]


def test_at_most_half_are_outliers_and_none_of_few_or_equal_ones() -> None:
    values = np.linspace(0, 1, 20).tolist()
    assert outlying(_scores(values, half=-9.0), level=-10) == list(range(10, 20))
    assert outlying(_scores([1.0, 1.1, 0.9, 99.0])) == []
    assert outlying(_scores([1.0] * 12 + [5.0])) == []


def _opposite(bad: int, episodes: int = 20) -> Demonstrations:
    """Return episodes of a = 0.6 s, of which the first ones do the opposite."""
    rng, parts = np.random.default_rng(0), []
    for i in range(episodes):
        obs = rng.uniform(-1, 1, (25, 1))
        action = (-0.6 if i < bad else 0.6) * obs + rng.uniform(-0.1, 0.1, obs.shape)
        parts.append(Episode(obs, action))
    return Demonstrations(tuple(parts))


@pytest.mark.slow
def test_episodes_that_do_the_opposite_are_excluded_even_if_they_are_many() -> None:
    demos = _opposite(6)
    estimate = meaning(demos, radius=0.1, held_out=QUICK, lag=0.0, offsets="none", progress=False)
    assert find_outliers(estimate, QUICK, force=True, progress=False) == list(range(6))


@pytest.mark.parametrize("episodes", [9, 12])
def test_none_of_few_or_alike_episodes_is_excluded(episodes: int) -> None:
    demos = _opposite(1 if episodes < 10 else 0, episodes)
    estimate = meaning(demos, radius=0.1, held_out=QUICK, lag=0.0, offsets="none", progress=False)
    assert find_outliers(estimate, QUICK, progress=False) == []


def test_none_is_excluded_where_policies_may_only_repeat_the_previous_action(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    demos = _opposite(2)
    estimate = meaning(demos, radius=0.1, held_out=QUICK, lag=0.0, offsets="none", progress=False)
    assert find_outliers(estimate, QUICK, progress=False) == [0, 1]
    assert why_none(estimate) == "No episode clearly differs from the others"
    monkeypatch.setattr(Explained, "may_only_repeat", True)
    assert why_none(estimate).startswith("Policies may only repeat the previous action, so none")
    with pytest.warns(CannotTell, match="policies may only repeat the previous action, so no"):
        assert find_outliers(estimate, QUICK, progress=False) == []
    assert find_outliers(estimate, QUICK, force=True, progress=False) == [0, 1]


def test_none_is_excluded_where_nothing_can_be_predicted() -> None:
    demos, rng = _opposite(0), np.random.default_rng(0)
    action = rng.permutation(demos.action).reshape(len(demos), -1, 1)
    parts = tuple(replace(e, action=a) for e, a in zip(demos.episodes, action, strict=True))
    shuffled = replace(demos, episodes=parts)
    estimate = meaning(
        shuffled, radius=0.1, held_out=QUICK, lag=0.0, offsets="none", progress=False
    )
    with pytest.warns(CannotTell, match="too little of the actions is explained"):
        assert find_outliers(estimate, QUICK, progress=False) == []
    assert why_none(estimate).startswith("Too little of the actions is explained, so none")
    assert "Cannot tell: of the actions' variance" in repr(estimate)
    assert "worst" not in repr(estimate)
    with pytest.warns(CannotTell, match="moving actions towards predictions means little"):
        assert np.array_equal(estimate.cleaned.action, estimate.meant.astype(np.float32))
