"""Moments of rows that arrive in portions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from counterbc.data.arrays import Array
from counterbc.data.moments import Moments


def test_portions_have_the_moments_of_the_whole() -> None:
    x = np.random.default_rng(0).normal(3, 2, (50, 3))
    moments = Moments(3)
    for rows in np.split(x, [1, 7, 30]):
        moments.add(rows)
    assert moments.rows == 50
    np.testing.assert_allclose(moments.mean, x.mean(0), rtol=1e-12)
    np.testing.assert_allclose(moments.std, x.std(0), rtol=1e-12)
    np.testing.assert_array_equal([moments.low, moments.high], [x.min(0), x.max(0)])


def test_values_that_are_not_finite_do_not_count() -> None:
    moments = Moments(1)
    moments.add(np.array([[1.0], [np.nan], [3.0], [np.inf]]))
    assert (moments.mean[0], moments.std[0], moments.high[0]) == (2.0, 1.0, 3.0)


def test_extremes_are_counted_from_the_last_new_one() -> None:
    moments = Moments(1)
    moments.add(np.array([[1.0], [1.0], [2.0]]))
    moments.add(np.array([[0.0], [2.0], [2.0]]))
    assert (moments.at_low[0], moments.at_high[0]) == (1, 3)


@pytest.mark.parametrize(
    ("change", "dominated"),
    [
        (lambda x: x, False),
        (lambda x: 1e30 * x, False),  # all are large
        (lambda x: np.where(np.arange(len(x)) == 3, 1e30, x), True),
        (lambda x: np.where(np.arange(len(x)) == 3, 1.0, 0.0), False),  # an event
        (lambda x: 1e8 + x, True),
        (lambda x: 100 + x, False),
        (lambda x: np.full(len(x), 1e8), True),  # 32 bits hide differences of 4
        (lambda x: np.full(len(x), 5.0), False),  # constant
    ],
)
def test_an_outlier_or_an_offset_that_hides_all_other_values_is_noticed(
    change: Callable[[Array], Array], dominated: bool
) -> None:
    values = change(np.random.default_rng(0).normal(size=200))[:, None]
    moments = Moments(1)
    for part in np.split(values, 4):
        moments.add(part)
    assert moments.dominated.tolist() == [dominated]
