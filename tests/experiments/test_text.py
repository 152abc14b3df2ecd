"""Values and intervals as short text."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.acting.intervals import Interval, mean_interval
from counterbc.experiments.text import interval_text, join_value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.4, "0.4"), ((0.4, 0.0), "0.4,0"), ("auto", "auto"), (None, ""), (5, "5"),
        ({"a": (1, 2)}, '{"a": [1, 2]}'), (True, "True"),
    ],
)  # fmt: skip
def test_a_value_becomes_short_text(value: object, text: str) -> None:
    assert join_value(value) == text


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(0.01382, 0.0, 0.01272, 0.01492, 3), "0.0138 [0.0127, 0.0149]"),
        (Interval(13.493, 0.0, 8.08, 18.9, 3), "13.49 [8.08, 18.90]"),
        (mean_interval(np.array([2.0])), "2.00"),
        (mean_interval(np.array([2.0, 2.0])), "2.00 [2.00, 2.00]"),
        (mean_interval(np.array([np.nan])), "nan"),
    ],
)
def test_an_interval_shows_two_digits_of_its_half_width(interval: Interval, text: str) -> None:
    assert interval_text(interval) == text
