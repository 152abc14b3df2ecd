"""Held-out errors by lag: which actions are compared, and what they are predicted from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from counterbc.errors import OptionError
from counterbc.selection.folds import Folds
from counterbc.selection.lag_errors import (
    LagModels,
    LagSearch,
    _mean_by_step,
    _with_own_past,
    lag_errors,
)
from counterbc.selection.learned_features import FeatureRegression
from counterbc.selection.readings import NOISE_VARIANCES
from tests.fixture_types import Make
from tests.selection.datasets import late_demos

SHORT, CPU = LagSearch(longest=4), torch.device("cpu")


def test_both_criteria_are_least_at_the_delay() -> None:
    errors = lag_errors(late_demos(2), SHORT, CPU)
    assert errors.lags == (0, 1, 2, 3, 4)
    assert errors.squares.shape == (5, 300)
    assert errors.own_past is not None
    assert errors.own_past.shape == (5, 10 * (30 - 4))  # the steps that every lag predicts
    assert int(errors.squares.mean(1).argmin()) == 2
    assert int(errors.own_past.mean(1).argmin()) == 2
    # A signal without memory tells nothing at other lags: the error is the variance, 1/12.
    assert errors.squares.mean(1)[0] == pytest.approx(1 / 12, rel=0.3)
    assert errors.squares.mean(1)[2] < 0.02


def test_the_first_steps_are_predicted_by_other_episodes_at_the_same_step() -> None:
    # Two folds of two episodes with two steps each.
    halves = (np.arange(4), np.arange(4, 8))
    folds = Folds("episodes", 0, held_out=halves, learned=halves[::-1])
    action = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]])
    step = np.array([0, 1] * 4)
    mean = _mean_by_step(action, step, folds, longest=1)
    assert mean[:4, 0].tolist() == [6.0, 6.5, 6.0, 6.5]  # steps after the longest lag: all steps
    assert mean[4:, 0].tolist() == [2.0, 2.5, 2.0, 2.5]


def test_policies_of_one_lag_act_with_all_of_them() -> None:
    errors = lag_errors(late_demos(2), SHORT, CPU)
    squares = errors.by_lag(2)
    np.testing.assert_allclose(squares[2], errors.squares[2], rtol=1e-6)
    assert int(squares.mean(1).argmin()) == 2
    # A confident policy at another lag is worse than one that learned that nothing can be known.
    assert squares[0].mean() > errors.squares[0].mean()


def test_own_past_pairs_by_hand() -> None:
    demos = late_demos(2, episodes=2)
    pairs = _with_own_past(demos, lag=3, longest=4)
    first = demos.episodes[0]
    assert pairs.pairs == 2 * 26
    expected = [first.obs[1, 0], first.action[3, 0], first.action[2, 0]]
    np.testing.assert_allclose(pairs.obs[0], expected, rtol=1e-6)
    np.testing.assert_allclose(pairs.action[0], first.action[4], rtol=1e-6)


@pytest.mark.parametrize(
    ("rate", "length", "longest"), [(None, 60, 12), (None, 11, 5), (50.0, 60, 20), (10.0, 60, 4)]
)
def test_the_longest_lag_is_in_seconds_where_there_is_a_rate_and_half_an_episode_at_most(
    rate: float | None, length: int, longest: int, make_demos: Make
) -> None:
    demos = make_demos(length=length, rate=rate)
    assert LagSearch().lags(demos) == range(longest + 1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seconds": 0.0}, "seconds is 0.0; it must be above 0"),
        ({"longest": 0}, "longest is 0; it must be 1 or more"),
        ({"folds": 1}, "folds is 1; it must be 2 or more"),
        ({"pairs": 19}, "pairs is 19; it must be 20 or more"),
    ],
)
def test_a_search_that_cannot_be_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        LagSearch(**changes)


def test_features_are_learned_for_few_dimensions_of_the_action(make_demos: Make) -> None:
    few, many = (LagModels(make_demos(action_size=n), SHORT, 4, CPU) for n in (3, 4))
    assert [type(r) for r in few.regressions].count(FeatureRegression) == 1
    assert len(few.predict(1)) == few.plain + len(NOISE_VARIANCES)
    assert FeatureRegression not in map(type, many.regressions)
    assert len(many.predict(1)) == many.plain
