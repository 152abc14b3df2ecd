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


def test_the_lower_end_must_reach_the_level() -> None:
    assert Share(0.5, LEAST_SHARE, 0.9).is_enough
    assert not Share(0.5, LEAST_SHARE - 0.01, 0.9).is_enough
    assert not Share(np.nan, np.nan, np.nan).is_enough


def test_the_share_that_counts_is_the_present_or_that_beyond_the_previous_action() -> None:
    low, high = Share(0.05, 0.0, 0.1), Share(0.3, 0.2, 0.4)
    shares = Explained(low, (low,), ("a",), Past(high, high, low))
    assert shares.counted == low
    assert replace(shares, history=3).counted == high
    assert replace(shares, history=3, present=high, past=Past(high, low, low)).counted == high


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
    shares = Explained(high, (high,), ("a",), Past(previous=high, beyond=low, visible=high))
    assert shares.may_only_repeat
    assert not shares.tells
    assert not replace(shares, history=3, policies=high).tells
    refusal, remedy = shares.verdict
    assert refusal.startswith("Cannot tell: the observation shows the previous action")
    assert f"last two actions leave, {low} is explained" in refusal
    assert remedy.startswith("Leave out the observation that shows the previous action")
    assert replace(shares, past=Past(high, beyond=high, visible=high)).tells
    assert replace(shares, past=Past(high, beyond=low, visible=low)).tells
    assert not replace(shares, past=Past(high, beyond=high, visible=high)).may_only_repeat
    assert not replace(shares, past=Past(high, beyond=low, visible=low)).may_only_repeat
    assert not replace(shares, past=None).may_only_repeat
