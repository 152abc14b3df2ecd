"""Comparisons of the fair study, against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.acting.intervals import Interval
from reproduction.records import Record
from reproduction.studies.fair_comparisons import by_run, compare, word

KIND = {"world": "cartpole", "pairs": 400, "taken": "whole", "sigma": None, "act": "mean"}


def rows_of(values: dict[str, list[float]], teacher: str = "crowd") -> list[Record]:
    """Return a row per variant and run."""
    return [
        KIND | {"teacher": teacher, "variant": variant, "seed": seed, "return": x}
        for variant, runs in values.items() for seed, x in enumerate(runs)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [(0.1, 9, "above"), (-9, -0.1, "below"), (-4.9, 4.9, "alike"), (-5.1, 1, "open")],
)
def test_one_word_says_where_an_interval_lies(low: float, high: float, answer: str) -> None:
    assert word(Interval(0.0, 1.0, low, high, 50), 100.0) == answer


def test_a_run_is_its_mean_over_the_cells_that_both_variants_have() -> None:
    crowd_rows = rows_of({"bc": [1.0, 2.0], "counter-bc": [3.0, 6.0]})
    uniform_rows = rows_of({"bc": [5.0, 6.0], "counter-bc": [7.0, 8.0]}, teacher="uniform")
    lone_rows = rows_of({"bc": [100.0, 100.0]}, teacher="gaussian")
    group = crowd_rows + uniform_rows + lone_rows
    runs = by_run(group, ("counter-bc", "bc"))
    assert runs is not None
    assert runs.tolist() == [[5.0, 3.0], [7.0, 4.0]]
    assert by_run(group, ("counter-bc", "bcnd")) is None


def test_intervals_are_adjusted_for_the_number_of_comparisons() -> None:
    rng = np.random.default_rng(0)
    values = {"bc": [100.0] * 10, "counter-bc": (100 + rng.normal(0, 3, 10) + 2.2).tolist()}
    group = rows_of(values)
    assert compare(group, "counter-bc", "bc", 1).endswith("above")
    assert not compare(group, "counter-bc", "bc", 100).endswith("above")
    assert compare(group, "counter-bc", "bcnd", 1) == "–"


def test_a_run_that_diverged_is_left_out() -> None:
    rows = rows_of({"bc": [1.0, 2.0], "counter-bc": [3.0, 5.0]})
    rows[0]["return"] = None
    runs = by_run(rows, ("counter-bc", "bc"))
    assert runs is not None
    assert runs.tolist() == [[5.0, 2.0]]
