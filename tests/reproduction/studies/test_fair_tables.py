"""The tables of the fair comparison, from made-up rows whose answers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.acting.intervals import Interval
from reproduction.records import Record, write_rows
from reproduction.studies import fair_tables
from reproduction.studies.fair_tables import by_run, compare, word

KIND = {"world": "cartpole", "pairs": 400, "taken": "whole", "teacher": "crowd", "sigma": None}
CHOSEN = {"shown": 28.5, "lag": 10.0, "radius": 0.0, "steps": 800}


def rows_of(values: dict[str, list[float]], **changes: Any) -> list[Record]:
    """Return a row per variant, run and way of acting."""
    return [
        KIND | CHOSEN | changes | {"variant": v, "act": act, "seed": seed, "return": x}
        for v, runs in values.items() for act in ("mean", "sample") for seed, x in enumerate(runs)
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
    group = [r for r in crowd_rows + uniform_rows + lone_rows if r["act"] == "mean"]
    runs = by_run(group, ("counter-bc", "bc"))
    assert runs is not None
    assert runs.tolist() == [[5.0, 3.0], [7.0, 4.0]]
    assert by_run(group, ("counter-bc", "bcnd")) is None


def test_intervals_are_adjusted_for_the_number_of_comparisons() -> None:
    rng = np.random.default_rng(0)
    values = {"bc": [100.0] * 10, "counter-bc": (100 + rng.normal(0, 3, 10) + 2.2).tolist()}
    group = [r for r in rows_of(values) if r["act"] == "mean"]
    assert compare(group, "counter-bc", "bc", 1).endswith("above")
    assert not compare(group, "counter-bc", "bc", 100).endswith("above")
    assert compare(group, "counter-bc", "bcnd", 1) == "–"


def test_the_tables_show_each_comparison_of_the_paper(tmp_path: Path) -> None:
    values = {
        "bc": [100.0, 104.0], "counter-bc": [120.0, 122.0], "bcnd": [110.0, 112.0],
        "four-bc": [110.1, 111.9], "bc, tuned": [198.0, 199.0], "counter-bc, tuned": [198.5, 198.5],
    }  # fmt: skip
    write_rows(rows_of(values), tmp_path / "fair")
    tables = fair_tables.sections(tmp_path)["reproduction"]
    (over_bc,) = [
        line for line in tables["fair table 1"].splitlines()
        if line.startswith("| Cartpole | whole | BC | sample")
    ]  # fmt: skip
    cells = [cell.strip() for cell in over_bc.split("|")[1:-1]]
    assert cells[4] == "39 %"
    assert cells[5].startswith("19 % [")
    assert cells[6].startswith("−39 % [")
    assert cells[-1] == "alike"
    assert "198.50" in tables["fair means"]
    assert "| Cartpole, crowd | whole | BC, tuned | 10 | 0 | 800 |" in tables["fair choices"]
    assert "alike" in tables["fair ensemble"].splitlines()[-1]
    assert "400: 4" in tables["fair sizes"]
    (teacher,) = [x for x in tables["fair teachers"].splitlines() if "| sample |" in x]
    assert [cell.strip()[:6] for cell in teacher.split("|")[4:-1]] == [
        "+18.6 ", "−39.0 ", "+94.6 ", "+0.0 %"
    ]  # fmt: skip


def test_a_run_that_diverged_is_left_out() -> None:
    rows = [r for r in rows_of({"bc": [1.0, 2.0], "counter-bc": [3.0, 5.0]}) if r["act"] == "mean"]
    rows[0]["return"] = None
    runs = by_run(rows, ("counter-bc", "bc"))
    assert runs is not None
    assert runs.tolist() == [[5.0, 2.0]]


def test_nothing_is_shown_where_nothing_was_run(tmp_path: Path) -> None:
    tables = fair_tables.sections(tmp_path)["reproduction"]
    assert set(tables.values()) == {"Not run yet."}


def test_steps_and_radius_are_the_two_sides_of_one_table(tmp_path: Path) -> None:
    values = {"counter-bc, Δ 0, 200 steps": [7.0, 9.0], "counter-bc, Δ 0.4": [5.0, 5.0]}
    write_rows(rows_of(values, teacher="uniform", sigma=0.5), tmp_path / "fair")
    lines = fair_tables.sections(tmp_path)["reproduction"]["fair knob"].splitlines()
    assert lines[2].startswith("| Cartpole | whole | sample | 200 | 8.00 ± 1.00 | – |")
    assert lines[3].startswith("| Cartpole | whole | sample | 10,000 | – |")
    assert "5.00 ± 0.00" in lines[3]
