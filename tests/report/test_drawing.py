"""Numbers at their places in a figure."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.report.drawing import Axes, number, runs, span, thin, ticks


@pytest.mark.parametrize(
    ("over", "most_ticks", "expected_ticks"),
    [
        ((0, 10), 5, [0, 2, 4, 6, 8, 10]),
        ((-1.2, 1.2), 4, [-1, 0, 1]),
        ((0.21, 0.49), 3, [0.3, 0.4]),
        ((0.55, 1.45), 1, [0.6, 0.8, 1.0, 1.2, 1.4]),  # 1 alone would not make a scale
    ],
)
def test_ticks_are_round_numbers(
    over: tuple[float, float], most_ticks: int, expected_ticks: list[float]
) -> None:
    assert ticks(over, most_ticks) == pytest.approx(expected_ticks)


def test_numbers_lie_in_proportion_between_the_edges() -> None:
    axes = Axes((0, 4), (0, 2), width=100, height=60, left=10, right=10, top=5, bottom=15)
    np.testing.assert_allclose(axes.across([0, 1, 4]), [10, 30, 90])
    np.testing.assert_allclose(axes.up([0, 1, 2]), [45, 25, 5])
    line = axes.line(np.array([0, 4]), np.array([0, 2]), "shown")
    assert line == '<polyline points="10.0,45.0 90.0,5.0" class="line shown"/>'


def test_a_span_of_one_value_still_has_a_width() -> None:
    assert span([3.0, 3.0]) == (1.5, 4.5)
    assert span([np.nan, 0.0, 1.0], 0.1) == (-0.1, 1.1)


def test_stretches_are_told_by_begin_and_end() -> None:
    assert runs(np.array([1, 1, 0, 0, 1], bool)) == [(0, 2), (4, 5)]
    assert runs(np.zeros(3, bool)) == []


def test_thinned_lines_keep_their_ends() -> None:
    assert thin(5, 10).tolist() == [0, 1, 2, 3, 4]
    kept_rows = thin(1000, 10)
    assert (kept_rows[0], kept_rows[-1], len(kept_rows)) == (0, 999, 10)


def test_numbers_have_a_true_minus() -> None:
    assert number(-0.5) == "−0.5"
