"""The study of the simulated arm: its rule, its tables, and a tiny run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reproduction.records import read
from reproduction.studies import robot
from reproduction.studies.robot import (
    RobotOptions,
    choice_table,
    chosen_radius,
    report_table,
    sections,
)

Record = dict[str, Any]


def rows_of(phase: str, method: str, radius: float | None, *rates: float) -> list[Record]:
    return [
        {
            "phase": phase, "method": method, "radius": radius, "clock": "virtual", "seed": i,
            "hits": rate / 2, "distance_per_hit": 1.0, "time_per_hit": 2.0, "ticks": 600,
            "hits_per_minute": rate, "missed": 0, "faulty": 1, "jitter_p99": 0.5,
            "latency_p50": 15.0,
        }
        for i, rate in enumerate(rates)
    ]  # fmt: skip


CHOICE = [
    *rows_of("choose", "counter-bc", 0.2, 4.0, 6.0),
    *rows_of("choose", "counter-bc", 0.4, 5.0, 5.0),
    *rows_of("choose", "counter-bc", 0.6, 1.0, 2.0),
]


def test_ties_take_the_smaller_radius() -> None:
    assert chosen_radius(CHOICE) == 0.2
    assert "| counter-bc | 0.2 | **5.0** | 2 |" in choice_table(CHOICE)


def test_bc_plays_beside_the_choice_and_is_never_chosen() -> None:
    rows = [*rows_of("choose", "bc", None, 50.0, 70.0), *CHOICE]
    assert chosen_radius(rows) == 0.2
    assert "| bc |  | 60.0 | 2 |" in choice_table(rows)


def test_rows_of_the_report_choose_nothing() -> None:
    rows = [*CHOICE, *rows_of("report", "counter-bc", 0.6, 99.0, 99.0)]
    assert chosen_radius(rows) == 0.2


def test_methods_are_compared_with_counter_bc_seed_by_seed() -> None:
    rows = [
        *rows_of("report", "bc", None, 4.0, 8.0),
        *rows_of("report", "counter-bc", 0.2, 6.0, 9.0),
    ]
    line = next(x for x in report_table(rows).splitlines() if "| bc |" in x)
    assert "+1.50" in line
    assert "| 1,200 | 0 | 2 |" in line


def test_rallies_in_real_time_name_scheduling_and_load() -> None:
    rows = rows_of("report", "bc", None, 4.0, 8.0)
    real = [
        row | {"clock": "real", "scheduling": "real-time", "load": load}
        for row, load in zip(rows, (0.5, 3.0), strict=True)
    ]
    lines = report_table([*rows, *real]).splitlines()[2:]
    assert [line.split("|")[1].strip() for line in lines] == ["virtual", "real"]
    assert lines[0].endswith("| 15.00 |  |  |")
    assert lines[1].endswith("| 15.00 | real-time | 0.5 to 3.0 |")


@pytest.mark.extra("mujoco", "robosuite")
@pytest.mark.needs("onnx", "onnxruntime")
def test_a_tiny_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robot, "SECONDS", 0.5)
    monkeypatch.setattr(robot, "RADII", (0.4,))
    monkeypatch.setattr(robot, "COUNTS", {"choose": 1, "report": 1})
    monkeypatch.setattr(robot, "PAPER_METHODS", ("bc", "counter-bc"))
    options = RobotOptions(out=tmp_path, steps=2, pairs=40)
    robot.run(options)
    rows = read(tmp_path / "robot" / "rows.json")
    assert [(r["phase"], r["method"]) for r in rows] == [
        ("choose", "bc"), ("choose", "counter-bc"), ("report", "bc"), ("report", "counter-bc"),
    ]  # fmt: skip
    monkeypatch.setattr(robot, "train", None)  # nothing is left to compute
    robot.run(options)
    assert set(sections(tmp_path)["robots"]) >= {"robot-choice", "robot-report"}
