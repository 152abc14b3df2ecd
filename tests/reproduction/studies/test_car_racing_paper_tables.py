"""The tables of Car Racing under the paper's conventions, from made-up rows."""

from __future__ import annotations

from pathlib import Path

from reproduction.records import write_rows
from reproduction.studies import car_racing_paper_tables
from reproduction.studies.car_racing_paper_tables import improvements, table1

VALUES = {
    "bc": [10.0, 12, 11, 10, 12], "counter-bc": [20.0, 23, 21, 22, 24],
    "bcnd": [20.0, 22, 22, 21, 24], "bc, 200 steps": [90.0, 91, 92, 93, 94],
    "bc, projected": [40.0, 41, 42, 43, 44], "counter-bc, projected": [30.0, 31, 31, 33, 35],
}  # fmt: skip


def made_up(noise: str = "uniform") -> list[dict[str, object]]:
    """Return five runs of some variants, by both ways of acting."""
    return [
        {"noise": noise, "variant": v, "act": act, "seed": s, "tiles": x, "return": x - 10,
         "shown": 160.0}
        for v, runs in VALUES.items() for act in ("mean", "sample") for s, x in enumerate(runs)
    ]  # fmt: skip


def test_every_table_is_made_from_the_rows(tmp_path: Path) -> None:
    write_rows(made_up(), tmp_path / "car-racing-paper")
    tables = car_racing_paper_tables.sections(tmp_path)["car-racing"]
    line = tables["paper conventions"].splitlines()[2]
    assert line.startswith("| uniform | sample | 5 | 160 | 11.0 ± 0.4 (above) |")
    assert "21.8 ± 0.7 (open)" in line
    assert "| 92.0 ± 0.7 |" in tables["paper steps"]
    (projected,) = [
        line for line in tables["paper pedals"].splitlines()
        if line.startswith("| uniform | sample | projected")
    ]  # fmt: skip
    assert projected.endswith("below |")


def test_verdicts_on_the_papers_percentages_follow_the_rule_of_table_1() -> None:
    lines = table1(made_up()).splitlines()
    by_baseline = {line.split("|")[3].strip(): line for line in lines[2:] if "sample" in line}
    assert by_baseline["BC"].endswith("| partly | above |")
    assert "2,370 %" in by_baseline["BC"]
    assert (
        "1,100 % of 1 |" in by_baseline["BC"]
    )  # a return near 0 makes a percentage of four digits
    assert by_baseline["BCND"].endswith("| cannot tell | open |")
    assert "Weighted-BC" not in by_baseline


def test_a_verdict_on_one_comparison_may_be_open_once_it_is_adjusted_for_five() -> None:
    # Differences of 1, 3, 4, 5 and 7: 4 ± 1 · t, with 4 degrees of freedom. t is 2.78 for one
    # comparison and 4.60 for each of five.
    runs = {"bc": [10.0] * 5, "counter-bc": [11.0, 13.0, 14.0, 15.0, 17.0]}
    rows = [
        {"noise": "uniform", "variant": v, "act": "mean", "seed": s, "tiles": x, "return": x}
        for v, values in runs.items() for s, x in enumerate(values)
    ]  # fmt: skip
    (cell,) = improvements(rows)
    assert (cell.runs, cell.baseline) == (5, "bc")
    assert cell.difference == "+4.0 [+1.2, +6.8]"
    assert (cell.verdict, cell.adjusted) == ("partly", "open")
