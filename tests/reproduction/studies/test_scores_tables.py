"""Tables of scores on rows made up by hand."""

from __future__ import annotations

import pytest

from reproduction.options import RESULTS
from reproduction.records import read
from reproduction.studies import scores_tables

ROW = {
    "study": "operators",
    "who": ["good", "good", "late", "late"],
    "pairs": [10, 30, 10, 10],
    "truth": [0.04, 0.08, 1.0, 1.0],
    "measures": {"jerk": [1.0, 2.0, 2.0, 3.0]},
    "intervals": [(0.1, 0.3), (0.3, 0.4), (0.9, 1.1), (0.5, 0.9)],
    "operators": [
        {"name": "good", "distance": 0.2, "low": 0.1, "high": 0.3},
        {"name": "late", "distance": 0.9, "low": 0.8, "high": 0.9},
    ],
}


def test_a_tie_counts_half_in_the_area_under_the_curve() -> None:
    # Of four pairs of a late and a good episode three are above, one is equal.
    assert scores_tables.auroc(ROW, "jerk", "late") == pytest.approx(3.5 / 4)


def test_coverage_counts_the_intervals_that_contain_the_truth() -> None:
    # √0.04 = 0.2, √0.08 = 0.28, 1 and 1: the first and the third are inside.
    episodes = scores_tables.coverage([ROW], "episodes")
    assert episodes == pytest.approx({"all": 0.5, "good": 0.5, "late": 0.5})
    # √((10 · 0.04 + 30 · 0.08) / 40) = 0.26 is inside, 1 is not.
    assert scores_tables.coverage([ROW], "operators") == {"all": 0.5, "good": 1.0, "late": 0.0}


def test_a_score_of_operators_is_read_and_a_measure_of_episodes_averaged() -> None:
    names = ["late", "good"]
    assert scores_tables.by_operator(ROW, "distance", names).tolist() == [0.9, 0.2]
    assert scores_tables.by_operator(ROW, "jerk", names).tolist() == [2.5, 1.5]


def test_the_operators_of_can_are_listed_from_better_to_worse() -> None:
    numbers = read(RESULTS / "can-scores" / "numbers.json")
    lines = scores_tables.can_table(numbers).splitlines()[2:]
    skills = [line.split("_")[1] for line in lines]
    assert skills == ["better"] * 2 + ["okay"] * 2 + ["worse"] * 2
