"""Intervals of root mean squares."""

from __future__ import annotations

import numpy as np

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
