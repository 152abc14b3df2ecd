"""Tables of the arm's loop come from the benchmark, or say that it was not run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.robot_timing import (
    NONE,
    benchmark,
    faults_table,
    load_table,
    soak_table,
    tracker_table,
)


def section(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"load_at_end": 0.1, "rows": list(rows)}


def test_nothing_is_shown_before_the_benchmark_was_run(tmp_path: Path) -> None:
    assert benchmark(tmp_path / "robots.json") == {}
    assert (faults_table({}), soak_table({}), load_table({})) == (NONE, NONE, NONE)


def test_faults_are_listed_by_scheduling() -> None:
    row = {
        "fault": "camera lost", "runs": 20, "median_periods": 1.4, "largest_periods": 1.9,
        "within_two_periods": 20, "commands_after_stop": 0,
    }  # fmt: skip
    table = faults_table({"faults, real-time priority": section(row), "faults": section(row)})
    lines = table.splitlines()[2:]
    assert lines[0] == "| camera lost | 20 | 20 | 1.40 | 1.90 | 0 | ordinary | 0.1 |"
    assert "real-time" in lines[1]


def test_the_arm_stands_beside_a_loop_that_only_sleeps() -> None:
    times = {"p50": 0.1, "p99": 0.5, "max": 1.0}
    rows = [
        {"loop": loop, "ticks": 12000, "missed": 0, "late_ms": times, "jitter_ms": times}
        for loop in ("simulated arm", "bare sleep")
    ]
    table = soak_table({"soak": section(*rows)})
    assert "| simulated arm | 12,000 | 0 | 0.50 | 1.00 | 0.10 | 0.50 | 1.00 | ordinary |" in table
    assert "| bare sleep | 12,000 |" in table


def test_a_busy_machine_has_a_row_for_each_number_of_programs() -> None:
    rows = [
        {
            "programs": 2 * n, "ticks": 1400, "missed": n, "faulty": 3, "watchdog_stops": 4,
            "late_ms": {"p50": 0.1, "p99": 7.5, "max": 80.0}, "speed_share": 1.0,
            "acceleration_share": 0.5, "outside_mm": 1.25, "slowest_stop_periods": 2.25,
        }
        for n in (1, 2)
    ]  # fmt: skip
    lines = load_table({"load": section(*rows) | {"cpus": 2}}).splitlines()[2:]
    assert lines[0] == (
        "| 2 on 2 cores | 1,400 | 1 | 3 | 4 | 8 | 100 % | 50 % | 1.2 | 2.2 | ordinary | 0.1 |"
    )
    assert lines[1].startswith("| 4 on 2 cores | 1,400 | 2 |")


def test_the_errors_of_the_tracker_are_in_millimetres() -> None:
    assert tracker_table({}) == NONE
    row = {
        "pictures": "drawn", "places": 300, "tracked": 299, "mean_mm": 0.314, "median_mm": 0.3,
        "largest_mm": 0.82,
    }  # fmt: skip
    assert tracker_table({"rows": [row]}).endswith("| drawn | 300 | 299 | 0.31 | 0.30 | 0.8 |")
