"""Held-out errors by lag: which actions are compared, and what they are predicted from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from counterbc.errors import OptionError
from counterbc.selection.lag_errors import (
    LagSearch,
    _mean_by_step,
    _with_own_past,
    lag_errors,
)
from tests.fixture_types import Make
from tests.selection.datasets import late_demos, training

SHORT = LagSearch(longest=4, lag_steps=(300,))


def test_both_criteria_are_least_at_the_delay() -> None:
    (errors,) = lag_errors([late_demos(2)], SHORT, training())
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
    action = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]])
    step, fold = np.array([0, 1] * 4), np.array([0] * 4 + [1] * 4)
    mean = _mean_by_step(action, step, fold, longest=1)
    assert mean[:4, 0].tolist() == [6.0, 6.5, 6.0, 6.5]  # steps after the longest lag: all steps
    assert mean[4:, 0].tolist() == [2.0, 2.5, 2.0, 2.5]


def test_policies_of_one_lag_act_with_all_of_them() -> None:
    (errors,) = lag_errors([late_demos(2)], SHORT, training())
    squares = errors.by_lag(2)
    np.testing.assert_allclose(squares[2], errors.squares[2], rtol=1e-6)
    assert int(squares.mean(1).argmin()) == 2
    # A confident policy at another lag is worse than one that learned that nothing can be known.
    assert squares[0].mean() > errors.squares[0].mean()


def test_each_lag_has_the_number_of_steps_that_suits_it() -> None:
    demos, both = late_demos(2), (300, 1500)
    (together,) = lag_errors([demos], replace(SHORT, lag_steps=both), training())
    means = together.squares.mean(1)
    by_steps = [
        lag_errors([demos], replace(SHORT, lag_steps=(n,)), training())[0].squares.mean(1)
        for n in both
    ]
    np.testing.assert_allclose(means, np.min(by_steps, 0), rtol=1e-4)
    assert set(np.argmin(by_steps, 0)) == {0, 1}


def test_a_policy_with_history_is_not_used_to_choose() -> None:
    # With a history of 5 every lag up to 2 could be explained from k = 0.
    (errors,) = lag_errors([late_demos(2)], SHORT, training("bc-rnn", hidden=None))
    assert errors.squares.mean(1)[0] > 2 * errors.squares.mean(1)[2]


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
        ({"lag_steps": ()}, "lag_steps is .*; it must be one or more"),
        ({"lag_steps": (0,)}, "lag_steps is"),
        ({"pairs": 19}, "pairs is 19; it must be 20 or more"),
    ],
)
def test_a_search_that_cannot_be_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        LagSearch(**changes)
