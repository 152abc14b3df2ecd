"""The tables of the fair comparison, from made-up rows whose answers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.records import Record, write_rows
from reproduction.studies import fair_tables

KIND = {"world": "cartpole", "pairs": 400, "taken": "whole", "teacher": "crowd", "sigma": None}
CHOSEN = {"shown": 28.5, "lag": 10.0, "radius": 0.0, "steps": 800}


def rows_of(values: dict[str, list[float]], **changes: Any) -> list[Record]:
    """Return a row per variant, run and way of acting."""
    return [
        KIND | CHOSEN | changes | {"variant": v, "act": act, "seed": seed, "return": x}
        for v, runs in values.items() for act in ("mean", "sample") for seed, x in enumerate(runs)
    ]  # fmt: skip


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
    (teacher,) = [x for x in tables["fair teachers"].splitlines() if "| sample |" in x]
    assert [cell.strip()[:6] for cell in teacher.split("|")[4:-1]] == [
        "+18.6 ", "−39.0 ", "+94.6 ", "+0.0 %"
    ]  # fmt: skip


def test_the_readme_has_one_line_for_each_kind_of_demonstrations(tmp_path: Path) -> None:
    values = {"bc": [100.0, 100.0], "counter-bc": [121.0, 121.0], "bc, tuned": [198.0, 200.0]}
    write_rows(rows_of(values) + rows_of({"bc": [1.0]}, teacher="uniform"), tmp_path / "fair")
    lines = fair_tables.sections(tmp_path)["README"]["fair summary"].splitlines()
    # 121 against 100 and against 199; no Counter-BC under uniform noise.
    assert lines[2:] == ["| Cartpole, crowd | whole | +21.0 above | −39.2 below | not run |"]


def test_a_mean_over_some_kinds_of_demonstrations_says_so(tmp_path: Path) -> None:
    both = {"bc": [1.0, 2.0], "counter-bc": [2.0, 3.0]}
    rows = rows_of(both) + rows_of(both | {"bc, tuned": [3.0, 4.0]}, teacher="uniform")
    write_rows(rows, tmp_path / "fair")
    lines = fair_tables.sections(tmp_path)["reproduction"]["fair table 1"].splitlines()
    (line,) = [x for x in lines if x.startswith("| Cartpole | whole | BC | sample")]
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert not cells[5].endswith("kinds)")
    assert cells[6].endswith("] (1 of 2 kinds)")


def test_nothing_is_shown_where_nothing_was_run(tmp_path: Path) -> None:
    pages = fair_tables.sections(tmp_path)
    assert {text for tables in pages.values() for text in tables.values()} == {"Not run yet."}


def test_steps_and_radius_are_the_two_sides_of_one_table(tmp_path: Path) -> None:
    values = {"counter-bc, Δ 0, 200 steps": [7.0, 9.0], "counter-bc, Δ 0.4": [5.0, 5.0]}
    write_rows(rows_of(values, teacher="uniform", sigma=0.5), tmp_path / "fair")
    lines = fair_tables.sections(tmp_path)["reproduction"]["fair knob"].splitlines()
    assert lines[2].startswith("| Cartpole | whole | sample | 200 | 8.00 ± 1.00 | – |")
    assert lines[3].startswith("| Cartpole | whole | sample | 10,000 | – |")
    assert "5.00 ± 0.00" in lines[3]


def test_what_bcnd_gains_is_compared_with_its_ensemble_for_the_noises_and_for_the_crowd() -> None:
    runs = {"bc": [100.0, 102.0], "bcnd": [110.0, 113.0], "four-bc": [110.0, 111.0]}
    late = {"bc": [30.0, 32.0], "bcnd": [20.0, 22.0], "four-bc": [30.0, 33.0]}
    noises = [r for t in ("uniform", "gaussian") for r in rows_of(runs, teacher=t, sigma=0.5)]
    lines = fair_tables.ensemble([*noises, *rows_of(late)]).splitlines()
    teachers = [line.split("|")[3].strip() for line in lines[2::2]]
    assert teachers == ["all noises", "uniform", "Gaussian", "crowd"]
    assert "| +10.4 %" in lines[2]  # 111.5 above 101
    assert "| −32.3 %" in lines[-1]  # 21 below 31


def test_one_noise_alone_has_no_line_of_all_noises() -> None:
    runs = {"bc": [100.0, 102.0], "bcnd": [110.0, 113.0], "four-bc": [110.0, 111.0]}
    assert "all noises" not in fair_tables.ensemble(rows_of(runs, teacher="uniform", sigma=0.5))


def test_a_simulated_crowd_does_not_refute_a_claim_about_people(tmp_path: Path) -> None:
    values = {name: [50.0, 51.0, 52.0] for name in ("bc", "weighted-bc", "bc-rnn", "bcnd")}
    write_rows(rows_of(values | {"counter-bc": [40.0, 41.0, 42.0]}), tmp_path / "fair")
    lines = fair_tables.sections(tmp_path)["reproduction"]["fair people"].splitlines()
    assert lines[2].endswith("| not tested as in the paper (contradicted here) |")


def test_sizes_and_noise_are_columns_with_four_means_each() -> None:
    rows = rows_of({"bc": [1.0, 2.0], "counter-bc": [3.0, 5.0], "bc, tuned": [6.0]})
    rows += rows_of({"bc": [10.0, 11.0], "counter-bc, tuned": [12.0]}, pairs=100)
    rows += rows_of({"bc": [7.0]}, taken="scattered")  # one size makes no line
    head, _, *lines = fair_tables.along(rows, "pairs").splitlines()
    assert head == "| world, teacher | pairs taken | act | 100 pairs | 400 pairs |"
    cells = "| 10.5 / – / – / 12.0 | 1.5 / 4.0 / 6.0 / – |"
    assert lines == [f"| Cartpole, crowd | whole | {act} {cells}" for act in ("mean", "sample")]
    noisy = rows_of({"bc": [1.0]}, teacher="uniform", sigma=0.0)
    noisy += rows_of({"bc": [2.0]}, teacher="uniform", sigma=0.5)
    assert fair_tables.along(rows + noisy, "sigma").count("1.0 / – / – / – | 2.0 /") == 2
