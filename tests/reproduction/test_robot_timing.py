"""Tables of the arm's loop come from the benchmark, or say that it was not run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.robot_timing import (
    NONE,
    benchmark,
    faults_table,
    load_table,
    rallies_table,
    soak_table,
    tracker_table,
)


def section(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"date": "2026-11-18", "load_at_end": 0.1, "rows": list(rows)}


def test_nothing_is_shown_before_the_benchmark_was_run(tmp_path: Path) -> None:
    assert benchmark(tmp_path / "robots.json") == {}
    tables = (faults_table, soak_table, load_table, rallies_table)
    assert {make({}) for make in tables} == {NONE}


def test_faults_are_listed_by_scheduling() -> None:
    row = {
        "fault": "camera lost", "runs": 20, "median_periods": 1.4, "largest_periods": 1.9,
        "within_two_periods": 20, "commands_after_stop": 0,
    }  # fmt: skip
    table = faults_table({"faults, real-time priority": section(row), "faults": section(row)})
    lines = table.splitlines()[2:]
    assert lines[0] == "| camera lost | 20 | 20 | 1.40 | 1.90 | 0 | ordinary | 0.1 | 2026-11-18 |"
    assert "real-time" in lines[1]


def soaked(ended: str, **faults: int) -> list[dict[str, Any]]:
    times = {"p50": 0.1, "p99": 0.5, "max": 1.0}
    bare = {"loop": "bare sleep", "ticks": 12000, "missed": 0, "late_ms": times, "jitter_ms": times}
    arm = {"loop": "simulated arm", "faults": faults, "watchdog_stops": 3, "ended": ended}
    return [bare | arm, bare]


def test_the_arm_stands_beside_a_loop_that_only_sleeps() -> None:
    lines = soak_table({"soak": section(*soaked("finished"))}).splitlines()
    numbers = "12,000 | 0 | 0.50 | 1.00 | 0.10 | 0.50 | 1.00"
    end = "ordinary | 0.1 | 2026-11-18 |"
    assert lines[2] == f"| simulated arm | {numbers} | none | 3 | finished |  | {end}"
    assert lines[3] == f"| bare sleep | {numbers} |  |  |  |  | {end}"
    assert len({line.count("|") for line in lines}) == 1


def test_no_soak_is_left_out_of_the_table() -> None:
    later = section(*soaked("policy stalled", stalled=16, lost=2)) | {"date": "2026-11-19"}
    sections = {
        "soak, real-time priority, simulated arm, load 33.2, 2026-11-19": later,
        "soak, real-time priority 50, point robot, load 0.2, today": section(*soaked("finished")),
        "soak": section(*soaked("finished")),
        "faults": section(),
    }
    lines = soak_table(sections).splitlines()[2::2]
    assert [line.split(" | ")[-3:-1] for line in lines] == [
        ["ordinary", "0.1"], ["real-time", "0.1"], ["real-time", "0.1"]
    ]  # fmt: skip
    assert (
        "| stalled: 16, lost: 2 | 3 | policy stalled |  | real-time | 0.1 | 2026-11-19 |"
        in lines[2]
    )


def test_what_held_up_a_loop_is_shown_where_it_was_counted() -> None:
    arm, bare = soaked("finished")
    arm |= {"loop_pages": 2, "policy_pages": 0, "stolen_seconds": 1.26}
    lines = soak_table({"soak": section(arm, bare)}).splitlines()
    assert "| finished | 2 + 0; 1.3 s | ordinary |" in lines[2]


def test_a_busy_machine_has_a_row_for_each_number_of_programs() -> None:
    rows = [
        {
            "programs": 2 * n, "ticks": 1400, "missed": n, "faulty": 3, "watchdog_stops": 4,
            "late_ms": {"p50": 0.1, "p99": 7.5, "max": 80.0}, "speed_share": 1.0,
            "acceleration_share": 0.5, "outside_mm": 1.25, "slowest_stop_periods": 2.25,
            "load_before": 0.4,
        }
        for n in (1, 2)
    ]  # fmt: skip
    lines = load_table({"load": section(*rows) | {"cpus": 2}}).splitlines()[2:]
    assert lines[0] == (
        "| 2 on 2 cores | 1,400 | 1 | 3 | 4 | 8 | 100 % | 50 % | 1.2 | 2.2 | ordinary | 0.4 | 0.1 "
        "| 2026-11-18 |"
    )
    assert lines[1].startswith("| 4 on 2 cores | 1,400 | 2 |")
    del rows[0]["load_before"]  # as in older rows
    line = load_table({"load": section(*rows) | {"cpus": 2}}).splitlines()[2]
    assert line.endswith("| ordinary |  | 0.1 | 2026-11-18 |")


def test_rallies_have_a_row_for_each_kind_of_disturbance() -> None:
    times = {"p50": 30.04, "p99": 40.96, "max": 50.0}
    row = {
        "disturbances": "strong", "delay_ms": 20.0, "delay_spread_ms": 20.0, "dropped": 0.2,
        "noise_mm": 4.0, "rallies": 2, "seconds": 30.0, "hits": [4, 2], "ticks": 1298,
        "missed": 1, "faults": {"camera lost": 108}, "watchdog_stops": 3, "jitter_ms": times,
        "latency_ms": times, "outside_mm": 1.26, "speed_share": 0.94, "load_at_start": 0.3,
    }  # fmt: skip
    lines = rallies_table({"rallies, real-time priority": section(row)}).splitlines()
    assert lines[2] == (
        "| strong | 20 | 40 | 20 % | 4 | 2 | 6 | 12.0 | 1,298 | 1 | camera lost: 108 | 3 | 40.96 "
        "| 30.0 | 41.0 | 94 % | 1.3 | real-time | 0.3 | 2026-11-18 |"
    )
    assert len({line.count("|") for line in lines}) == 1


def test_the_errors_of_the_tracker_are_in_millimetres() -> None:
    assert tracker_table({}) == NONE
    row = {
        "pictures": "drawn", "places": 300, "tracked": 299, "mean_mm": 0.314, "median_mm": 0.3,
        "largest_mm": 0.82,
    }  # fmt: skip
    assert tracker_table({"rows": [row]}).endswith("| drawn | 300 | 299 | 0.31 | 0.30 | 0.8 |")
