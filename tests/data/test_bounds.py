"""Action bounds are checked, and written in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterbc.data.bounds import bounds_text, checked_bounds, rarely_used
from counterbc.errors import CounterBCError

ONE = np.ones(2)


def test_bounds_become_read_only_float32() -> None:
    bounds = checked_bounds(-ONE, ONE, "box", 2)
    assert bounds is not None
    assert [b.dtype for b in bounds] == [np.float32] * 2
    assert not any(b.flags.writeable for b in bounds)
    assert checked_bounds(None, None, "box", 2) is None


@pytest.mark.parametrize(
    ("low", "high", "action_set", "sentence"),
    [
        (-ONE, None, "box", "both be given, or neither; add action_high"),
        (None, ONE, "box", "both be given, or neither; add action_low"),
        (None, None, "ball", "'ball' needs action_low and action_high; give both, or use 'box'"),
        (-ONE, np.ones(3), "box", r"expected \(2,\) each"),
        (ONE, ONE, "box", "dimension 0 are 1 and 1; they must be finite with low < high: correct"),
        (np.array([-1, -np.inf]), ONE, "box", "action dimension 1 are -inf and 1; they must be"),
        (-ONE, ONE, "cube", "unknown action set 'cube'; allowed: box, ball"),
    ],
)
def test_bad_bounds_are_refused(low: Any, high: Any, action_set: str, sentence: str) -> None:
    with pytest.raises(CounterBCError, match=sentence):
        checked_bounds(low, high, action_set, 2)


def test_equal_bounds_are_written_once() -> None:
    assert bounds_text(-ONE, ONE, "box") == "[-1, 1] in every dimension"
    assert bounds_text(-ONE, np.array([1.0, 2.0]), "ball") == "[-1, 1] [-1, 2], within the ball"
    assert "unknown" in bounds_text(None, None, "box")


def test_a_dimension_is_rarely_used_if_its_full_range_exceeds_the_usual_one_three_times() -> None:
    low, high = np.zeros(4), np.array([1.0, 1.0, 0.0, 0.0])
    highest = np.array([2.9, 3.1, 1.0, 0.0])
    assert rarely_used(low, high, np.zeros(4), highest).tolist() == [False, True, True, False]
