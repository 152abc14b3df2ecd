"""The study of the lags of the library's teachers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterbc.demonstrators import HUMAN_TEACHERS, Crowd, Human, demonstrate
from counterbc.demonstrators.presets import SKILLED
from counterbc.selection.lag_choice import LagChoice
from reproduction.records import read
from reproduction.studies import teacher_lags


def test_lags_are_means_over_the_pairs_of_all_operators() -> None:
    crowd = HUMAN_TEACHERS["crowd"]
    assert isinstance(crowd, Crowd)
    demos = demonstrate("intersection", crowd, 40, 0)  # two operators, 20 steps each, 10 a second
    people = [person for _, person in crowd.operators[:2] if isinstance(person, Human)]
    choice = LagChoice((1.0, 4.0), "late", operators=demos.operators, lags=(0, 1, 2, 3, 4))
    row = teacher_lags.compare(demos, choice, crowd)
    assert (row["lag"], row["longest"], row["median_length"]) == (2.5, 4, 20)
    assert row["true_lag"] == pytest.approx(10 * (people[0].delay + people[1].delay) / 2)
    off = abs(1 - 10 * people[0].delay) + abs(4 - 10 * people[1].delay)
    assert row["off"] == pytest.approx(off / 2)
    assert teacher_lags.compare(demos, LagChoice((3.0,), "late"), crowd)["lag"] == 3
    assert teacher_lags.reaction_time(SKILLED, None) == 0.18


def row(lag: float, verdict: str, valley: int = 0) -> dict[str, Any]:
    about = {"world": "cartpole", "teacher": "skilled", "pairs": 400, "true_lag": 9.0}
    about |= {"off": abs(lag - 9.0), "longest": 12}
    return about | {"lag": lag, "verdict": verdict, "valley": valley}


def test_the_table_counts_right_lags_and_right_hints_by_hand() -> None:
    # 9 steps of Cartpole are 0.18 s; half a step is tolerated.
    rows = [
        row(9.0, "late"), row(9.5, "late"), row(7.0, "late"), row(0.0, "not late", valley=10),
        row(0.0, "cannot tell"),
    ]  # fmt: skip
    (line,) = teacher_lags.markdown(rows).splitlines()[2:]
    assert line == (
        "| cartpole | skilled | 400 | 0.18 s | 0.24 s | 0.14 s (0–0.19) | 0.017 s | 60% | 20% "
        "| 20% | 40% | 20% | 5 |"
    )


def test_the_study_writes_a_row_for_every_dataset_and_computes_it_once(
    tmp_path: Path, check_origin: Any, run_here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_here(teacher_lags)
    options = teacher_lags.TeacherLagOptions(
        seeds=2, worlds=("intersection",), teachers=("skilled", "crowd"), pairs=(120,),
        out=tmp_path, workers=1,
    )  # fmt: skip
    teacher_lags.run(options)
    rows = read(tmp_path / "teacher-lags" / "rows.json")
    assert [(r["teacher"], r["seed"]) for r in rows] == [
        ("skilled", 2770), ("skilled", 2771), ("crowd", 2770), ("crowd", 2771),
    ]  # fmt: skip
    assert rows[0]["true_lag"] == pytest.approx(1.8)
    check_origin(*rows)
    monkeypatch.setattr(teacher_lags, "choose", None)  # nothing is left to compute
    teacher_lags.run(options)
    assert read(tmp_path / "teacher-lags" / "rows.json") == rows


def test_the_page_says_where_nothing_was_run(tmp_path: Path) -> None:
    assert teacher_lags.sections(tmp_path) == {"tune": {"teacher-lags": "Not run yet."}}
