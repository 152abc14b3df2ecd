"""Tables of Car Racing on rows made up by hand."""

from __future__ import annotations

from typing import Any

from reproduction.paper import PAPER_METHODS
from reproduction.studies import car_racing_tables as tables


def rows() -> list[dict[str, Any]]:
    """BC visits 0.2 and 0.3 of the track, the others three times as much."""
    about = {"teacher": "uniform", "pairs": 400, "act": "mean"}
    return [
        about | {"method": m, "seed": s, "lap": lap * (1 if m == "bc" else 3), "tiles": 100 * lap}
        for m in PAPER_METHODS for s, lap in ((1, 0.3), (0, 0.2))
    ]  # fmt: skip


def test_seeds_are_compared_in_their_order() -> None:
    assert tables.by_seed(rows(), "lap", method="bc").tolist() == [0.2, 0.3]


def test_a_method_is_marked_where_the_difference_excludes_0() -> None:
    every = rows()
    for row in every:
        row["lap"] = 0.2 + 0.01 * row["seed"] + (0.5 if row["method"] == "bcnd" else 0)
    line = tables.markdown(every, "lap", 100).splitlines()[2]
    assert line.count("▲") == 1
    assert line.startswith("| uniform | 400 | mean | 20.5 ± 0.5 | ")


def test_the_largest_improvement_is_that_of_a_whole_lap() -> None:
    line, paper = tables.improvements(rows()).splitlines()[2:]
    assert line.endswith("| +0 | +0 | +0 | +0 | +300 |")  # a quarter of the track on average
    assert paper.startswith("| the paper |  |  | +2370 |")
