"""The checks of arrays: read-only copies, and finite numbers."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.data.arrays import check_finite, read_only
from counterbc.errors import DataError


def test_a_copy_is_read_only_and_the_array_of_the_caller_is_not() -> None:
    array = np.arange(3.0)
    copy = read_only(array, np.float32, "numbers")
    assert copy.dtype == np.float32
    assert not copy.flags.writeable
    array[0] = 7
    assert copy.tolist() == [0, 1, 2]


def test_a_read_only_array_that_owns_its_numbers_is_not_copied() -> None:
    array = read_only([1, 2], np.float32, "numbers")
    assert read_only(array, np.float32, "numbers") is array
    assert read_only(array, None, "numbers") is array
    assert read_only(array, np.float64, "numbers") is not array
    assert read_only(array[:1], np.float32, "numbers").base is None


def test_values_that_are_no_numbers_are_refused_by_their_label() -> None:
    with pytest.raises(DataError, match="obs of demo_1 cannot be read as numbers"):
        read_only([["a"]], np.float32, "obs of demo_1")


def test_values_that_are_not_finite_are_counted_and_their_row_is_named() -> None:
    array = np.array([[0.0, 1.0], [np.nan, np.inf]])
    with pytest.raises(DataError, match=r"obs has 2 values .* first in row 1"):
        check_finite(array, "obs")


def test_large_finite_values_whose_squares_overflow_are_accepted() -> None:
    check_finite(np.full((2, 1), 1e30, np.float32), "obs")
