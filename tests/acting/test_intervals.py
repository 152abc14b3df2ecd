"""Intervals against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from counterbc.acting.intervals import (
    holm,
    mean_interval,
    measure_interval,
    paired_difference,
    share_interval,
)


def test_the_interval_of_1_to_5_by_hand() -> None:
    interval = mean_interval(np.array([1, 2, 3, 4, 5]))
    # s = √2.5, se = s/√5 = √0.5; Student's t for 4 degrees of freedom at 97.5 % is 2.776445.
    assert (interval.mean, interval.n) == (3, 5)
    assert interval.se == pytest.approx(math.sqrt(0.5))
    assert interval.low == pytest.approx(3 - 2.776445 * math.sqrt(0.5), abs=1e-6)
    assert interval.high == pytest.approx(3 + 2.776445 * math.sqrt(0.5), abs=1e-6)
    assert str(interval) == "3.00 [1.04, 4.96]"


def test_another_level_is_narrower_by_hand() -> None:
    # t for 4 degrees of freedom at 90 % (two-sided 80 %) is 1.533206.
    interval = mean_interval(np.array([1, 2, 3, 4, 5]), level=0.8)
    assert interval.high - interval.mean == pytest.approx(1.533206 * math.sqrt(0.5), abs=1e-6)


def test_one_number_has_a_mean_and_no_interval() -> None:
    interval = mean_interval(np.array([2.5]))
    assert (interval.mean, interval.n) == (2.5, 1)
    assert math.isnan(interval.low)
    assert str(interval) == "2.50"


def test_numbers_that_are_not_finite_are_left_out_and_counted_out() -> None:
    assert mean_interval(np.array([1, np.nan, 3, np.inf])).n == 2
    assert mean_interval(np.array([1, np.nan, 3])).mean == 2
    assert mean_interval(np.array([np.nan])).n == 0
    assert math.isnan(mean_interval(np.array([])).mean)


def test_a_paired_difference_by_hand() -> None:
    interval = paired_difference(np.array([3, 4, 8, 5]), np.array([1, 3, 5, 3]))
    # Differences 2, 1, 3, 2: mean 2, s = √(2/3), t = 2/(s/2) = 4.898979, 3 degrees of freedom.
    assert interval.interval.mean == 2
    assert interval.interval.se == pytest.approx(math.sqrt(2 / 3) / 2)
    assert interval.p == pytest.approx(0.016277, abs=1e-6)


def test_pairs_of_which_one_is_missing_are_left_out() -> None:
    interval = paired_difference(np.array([3, np.nan, 8]), np.array([1, 3, 5]))
    assert interval.interval.n == 2
    assert interval.interval.mean == 2.5


@pytest.mark.parametrize("second_values", [[1, 2, 3], [0, 1, 2], [0.9, 1.9, 2.9]])
def test_differences_that_are_all_alike_have_no_p_value(second_values: list[float]) -> None:
    # 3 − 2.9 is not 1 − 0.9, but for rounding alone.
    interval = paired_difference(np.array([1, 2, 3]), np.array(second_values))
    assert interval.interval.mean == pytest.approx(1 - second_values[0])
    assert math.isnan(interval.p)


def test_the_share_of_all_successes_has_wilsons_interval_by_hand() -> None:
    successes = share_interval(np.array([1.0, 1.0, 1.0, 0.0, np.nan]))
    z2 = 1.959964**2
    middle = (0.75 + z2 / 8) / (1 + z2 / 4)
    half = np.sqrt(z2 * (0.1875 / 4 + z2 / 64)) / (1 + z2 / 4)
    assert (successes.mean, successes.n) == (0.75, 4)
    np.testing.assert_allclose(
        [successes.low, successes.high], [middle - half, middle + half], rtol=1e-5
    )
    sure = share_interval(np.ones(10))
    np.testing.assert_allclose([sure.low, sure.high], [10 / (10 + z2), 1.0], rtol=1e-5)
    assert share_interval(np.array([np.nan])).n == 0


def test_only_measures_that_are_yes_or_no_are_shares() -> None:
    success, hits = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[1.0, 2.0], [0.0, 1.0]])
    assert measure_interval(success) == share_interval(success)
    assert measure_interval(hits) == mean_interval(np.array([1.5, 0.5]))


def test_holm_multiplies_the_smallest_most_and_leaves_out_what_was_not_run() -> None:
    adjusted = holm([0.02, 0.01, float("nan"), 0.5, 0.015])
    assert adjusted[:2] == pytest.approx([0.045, 0.04])
    assert np.isnan(adjusted[2])
    assert adjusted[3:] == pytest.approx([0.5, 0.045])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
