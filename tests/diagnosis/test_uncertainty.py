"""Intervals of root mean squares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from counterbc.diagnosis import uncertainty


def test_an_uncertain_model_error_widens_an_interval() -> None:
    x = np.random.default_rng(0).uniform(0, 1, 50)
    low, high = uncertainty.of_series(x, less=0.2)
    wide_low, wide_high = uncertainty.of_series(x, less=0.2, spread=0.1)
    assert wide_low < low < np.sqrt(x.mean() - 0.2) < high < wide_high
    assert uncertainty.of_series(x, less=1.0) == (0.0, 0.0)


def test_intervals_of_independent_numbers_cover_nine_times_in_ten() -> None:
    rng = np.random.default_rng(0)
    draws = rng.uniform(0, 1, (400, 40))
    inside = [low <= np.sqrt(0.5) <= high for low, high in map(uncertainty.of_series, draws)]
    assert 0.86 < np.mean(inside) < 0.96


def test_neighbours_that_resemble_each_other_tell_less() -> None:
    x = np.random.default_rng(0).uniform(0, 1, 100)
    low, high = uncertainty.of_series(x)
    blocks = np.repeat(x[:20], 5)
    wide_low, wide_high = uncertainty.of_series(blocks)
    assert wide_high - wide_low > 1.5 * (high - low)


def test_intervals_over_few_groups_cover_nine_times_in_ten() -> None:
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(300):
        low, high = uncertainty.of_groups(rng.uniform(0, 2, 8))
        inside.append(low <= 1.0 <= high)
    assert 0.85 < np.mean(inside) < 0.96


def test_intervals_hold_though_what_is_subtracted_is_known_with_an_error() -> None:
    rng = np.random.default_rng(2)
    inside = []
    for _ in range(300):
        low, high = uncertainty.of_groups(rng.uniform(0, 2, 30), rng.normal(0.5, 0.2), 0.2)
        inside.append(low**2 <= 0.5 <= high**2)
    assert 0.85 < np.mean(inside) < 0.96


def test_too_little_gives_no_interval() -> None:
    assert np.isnan(uncertainty.of_series(np.ones(2))).all()
    assert np.isnan(uncertainty.of_groups(np.ones(1))).all()


def test_many_series_have_the_intervals_of_each_alone() -> None:
    squares = np.random.default_rng(0).uniform(0, 1, (5, 30))
    squares[1], squares[2] = 0.5, np.nan  # the same number everywhere; unknown
    squares[3] = np.sort(squares[3])
    less = np.array([0.2, 0.1, 0.0, 0.3, 2.0])
    low, high = uncertainty.of_each_series(squares, less, 0.05)
    alone = [uncertainty.of_series(x, y, 0.05) for x, y in zip(squares, less.tolist(), strict=True)]
    np.testing.assert_array_equal(np.stack([low, high], axis=1), alone)
    half = 0.05 * stats.t.ppf(0.95, 29)
    assert alone[1] == pytest.approx((np.sqrt(0.4 - half), np.sqrt(0.4 + half)))
    assert np.isnan(alone[2]).all()
