"""Which lags are tried: every one of a few, and coarse to fine where there are many."""

from __future__ import annotations

import pytest

from counterbc.selection.lag_grid import coarse_lags, finer_lags, most_lags


@pytest.mark.parametrize("longest", [1, 4, 12, 20])
def test_every_one_of_a_few_lags_is_tried(longest: int) -> None:
    assert coarse_lags(longest) == tuple(range(longest + 1))
    assert most_lags(longest) == longest + 1
    assert all(finer_lags(coarse_lags(longest), k) == [] for k in range(longest + 1))


def test_many_lags_by_hand() -> None:
    lags = coarse_lags(43)
    assert lags == (0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 43)
    assert finer_lags(lags, 0) == [1, 2]
    assert finer_lags(lags, 9) == [7, 8, 10, 11]
    assert finer_lags(lags, 43) == []
    assert finer_lags([0, 20, 40], 20) == [4, 8, 12, 16, 24, 28, 32, 36]


@pytest.mark.parametrize("rate", [60, 100, 120, 200, 240, 500, 1000, 4000])
def test_the_number_of_lags_is_bounded_at_every_rate(rate: int) -> None:
    longest = round(0.4 * rate)
    lags = coarse_lags(longest)
    assert (lags[0], lags[-1]) == (0, longest)
    assert most_lags(longest) <= 49


def test_at_240_steps_per_second_every_lag_around_one_is_tried() -> None:
    lags = coarse_lags(96)
    assert sorted({*lags, *finer_lags(lags, 50)}.intersection(range(45, 56))) == [*range(45, 56)]
