"""Shares of the actions' variance, computed by hand, and what follows from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.selection.shares import (
    LEAST_SHARE,
    Explained,
    Past,
    Share,
)


def test_the_share_is_one_less_the_ratio_of_squares_by_hand() -> None:
    assert Share.of(np.ones(4), np.full(4, 4.0), np.array([3, 3, 7, 7])) == Share(0.75, 0.75, 0.75)


def test_the_interval_is_students_over_episodes_by_hand() -> None:
    share = Share.of(np.array([1.0, 3.0]), np.array([4.0, 4.0]), np.array([0, 1]))
    half = 6.313752 * np.sqrt(2 * 2) / 8  # ratio ½, off by ∓1 in each of two episodes
    assert (share.value, share.low, share.high) == pytest.approx((0.5, 0.5 - half, 0.5 + half))


def test_a_few_episodes_with_another_goal_do_not_hide_what_the_others_explain() -> None:
    squares, spread = np.full(30, 2.0), np.full(30, 4.0)
    squares[:3] = 30.0  # predicted worse than by the mean action
    share, whole = Share.of(squares, spread, np.arange(30)), 1 - squares.sum() / spread.sum()
    assert share.value == pytest.approx(0.5)
    assert share.is_enough
    assert whole < LEAST_SHARE


def test_trimming_does_not_explain_what_nothing_explains() -> None:
    rng = np.random.default_rng(0)
    shares = [
        Share.of(rng.gamma(4, size=50), rng.gamma(4, size=50), np.arange(50)) for _ in range(200)
    ]
    assert np.mean([share.value for share in shares]) == pytest.approx(0, abs=0.03)
    assert np.mean([share.low > 0 for share in shares]) == pytest.approx(0.05, abs=0.04)


def test_a_share_is_printed_with_its_interval_within_0_and_100() -> None:
    assert str(Share(0.5, -0.3, 1.3)) == "50 % [0, 100]"
    assert str(Share(-0.2, -0.3, -0.1)) == "none"
    assert str(Share(np.nan, np.nan, np.nan)) == "nothing varies"


def test_a_lower_end_that_misses_the_level_is_not_printed_as_if_it_reached_it() -> None:
    share = Share(0.156, LEAST_SHARE - 0.004, 0.216)
    assert not share.is_enough
    assert str(share) == "16 % [9, 22]"
    assert str(Share(0.3, 0.29, 0.31)) == "30 % [29, 31]"  # 100 · 0.29 is below 29
    assert str(Share(0.15, LEAST_SHARE, 0.2)) == "15 % [10, 20]"


def test_the_lower_end_must_reach_the_level() -> None:
    assert Share(0.5, LEAST_SHARE, 0.9).is_enough
    assert not Share(0.5, LEAST_SHARE - 0.01, 0.9).is_enough
    assert not Share(np.nan, np.nan, np.nan).is_enough


LOW, HIGH = Share(0.05, 0.0, 0.1), Share(0.3, 0.2, 0.4)


def past(*, left_over: Share, visible: Share = LOW, present: Share = HIGH) -> Past:
    """Return the past of smooth actions: 90 % is explained by the last two."""
    return Past(HIGH, left_over, visible, Share(0.9, 0.85, 0.95), present)


def test_the_share_that_counts_is_that_of_the_policies_or_that_beyond_the_previous_action() -> None:
    shares = Explained(LOW, (LOW,), ("a",), past(left_over=LOW))
    assert shares.counted == LOW
    with_history = replace(shares, history=3, policies=Share(0.4, 0.3, 0.5))
    assert with_history.counted == LOW
    assert with_history.counts_beyond
    assert not with_history.tells
    for telling in (
        replace(with_history, past=past(left_over=HIGH)),
        replace(with_history, present=HIGH),
    ):
        assert telling.tells
        assert telling.counted == with_history.policies
        assert not telling.counts_beyond


def test_a_refusal_names_the_share_that_is_too_low() -> None:
    low, policies = Share(0.04, 0.0, 0.08), Share(0.4, 0.3, 0.5)
    shares = Explained(
        low, (low,), ("a",), past(left_over=HIGH), 3, policies=replace(low, value=0.03)
    )
    assert (
        "of the actions' variance, 3 % [0, 8] is explained by policies that read 3 observations"
        in (shares.refusal)
    )
    repeating = replace(shares, policies=policies, past=past(left_over=low))
    assert "may repeat past actions; of what the last two leave, 4 % [0, 8]" in repeating.refusal
    assert replace(shares, history=1, policies=None).refusal.startswith(
        "Cannot tell: of the actions' variance, 4 % [0, 8] is explained, and"
    )


def test_a_dimension_in_which_nothing_varies_is_not_called_explained_too_little() -> None:
    high, constant = Share(0.3, 0.2, 0.4), Share(np.nan, np.nan, np.nan)
    shares = Explained(high, (high, constant), ("x", "unused"))
    assert shares.verdict == ()
    low = Share(0.05, 0.0, 0.1)
    assert replace(shares, per_dimension=(low, constant)).verdict == (
        "The policies explain too little of x",
    )


def test_policies_may_only_repeat_an_action_that_is_visible_and_all_that_is_explained() -> None:
    low, high = Share(0.1, 0.0, 0.2), Share(0.95, 0.92, 0.98)
    shares = Explained(high, (high,), ("a",), past(left_over=low, visible=high, present=high))
    assert shares.may_only_repeat
    assert not shares.tells
    assert not replace(shares, history=3, policies=high).tells
    refusal, remedy = shares.verdict
    assert refusal.startswith("Cannot tell: the observation shows the previous action")
    assert f"last two actions leave, {low} is explained" in refusal
    assert remedy.startswith("Leave out the observation that shows the previous action")
    for telling in (
        past(left_over=high, visible=high, present=high),
        past(left_over=low, present=high),
    ):
        assert replace(shares, past=telling).tells
        assert not replace(shares, past=telling).may_only_repeat
    assert not replace(shares, past=None).may_only_repeat


def test_a_noisy_view_of_the_previous_action_explains_no_more_than_it_shows_by_hand() -> None:
    low, present, visible = LOW, Share(0.45, 0.4, 0.5), Share(0.5, 0.45, 0.55)
    shares = Explained(
        present, (present,), ("a",), past(left_over=low, visible=visible, present=present)
    )
    assert shares.may_only_repeat  # 0.45 = 0.5 · 0.9
    assert not shares.tells
    assert "no more than a noisy view of the previous action" in shares.refusal
    responsive = replace(
        shares, past=past(left_over=low, visible=visible, present=Share(0.6, 0.5, 0.7))
    )
    assert responsive.tells
    assert not replace(shares, present=Share(0.9, 0.85, 0.95)).tells  # by policies with more pairs
    unexplained = replace(
        shares, present=low, past=past(left_over=low, present=Share(0.0, 0.0, 0.0))
    )
    assert not unexplained.tells
    assert not unexplained.may_only_repeat  # nothing is explained, not even by repeating


def test_a_noisy_view_is_no_obstacle_to_policies_that_predict_beyond_the_last_two_actions() -> None:
    present, visible = Share(0.45, 0.4, 0.5), Share(0.5, 0.45, 0.55)  # 0.45 = 0.5 · 0.9
    policies = Share(0.15, LEAST_SHARE, 0.2)
    shares = Explained(
        present, (present,), ("a",), past(left_over=LOW, visible=visible, present=present)
    )
    assert shares.counted == LOW
    answering = replace(shares, response=policies)
    assert answering.tells
    assert answering.counted == present
    repeating = replace(shares, response=replace(policies, low=LEAST_SHARE - 0.01))
    assert not repeating.tells
    assert repeating.counted == repeating.response
    assert "actions leave, 15 % [9, 20] is explained" in repeating.refusal
    assert repeating.rows[-1] == (
        "of what the last two actions leave, by policies",
        repeating.response,
    )


def test_a_clear_view_of_the_previous_action_is_an_obstacle_to_all_policies() -> None:
    high = Share(0.95, 0.92, 0.98)
    shares = Explained(high, (high,), ("a",), past(left_over=LOW, visible=high, present=high))
    shares = replace(shares, response=high)
    assert not shares.tells
    assert shares.counted == LOW
    assert shares.as_dict()["response"]["low"] == 0.92
