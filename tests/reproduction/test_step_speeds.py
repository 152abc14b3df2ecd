"""The tables of steps and of trainings on a busy machine, in the docs."""

from __future__ import annotations

from pathlib import Path

from reproduction.step_speeds import (
    NAMES,
    busy_sentence,
    busy_table,
    phases_sentence,
    phases_table,
    rates_table,
    sections,
    step_sentence,
    step_table,
)

STEP = {
    "threads": 2,
    "load before": 0.1,
    "rounds": 12,
    "ratios": [{"what": "c", "wall": [1.21, 1.2, 1.25], "cpu": [1.22, 1.2, 1.3], "goal": "≤ 1.25"}],
    "microseconds per network and step": {"wall": {"BC": 8.1}, "cpu": {"BC": 16.2}},
    "peak GFLOP/s": {"wall": 181.5, "cpu": 90.2},
}
PHASES = {
    "cpu": "a CPU", "cores": 2, "load before": 0.25, "members": 50, "batch": 40, "steps": 100,
    "rounds": 9, "lanes": 8, "peak GFLOP/s": {"multiply-adds": 200.0, "matrix products": 80.0},
    "GFLOP/s": {"bc": 60.0, "bcnd": 50.0},
    "rows": [
        {"method": method, "phase": phase, "microseconds": value}
        for method, values in {"bc": (2, 4, 2, 8), "counter-bc": (2.5, 4.5, 3, 10)}.items()
        for phase, value in zip(("forward", "backward", "rest", "all"), values, strict=True)
    ] + [{"method": "bcnd", "phase": "all", "microseconds": 9.6}],
}  # fmt: skip
TIMES = {
    "idle": 2.0, "busy": 4.21, "idle, processor": 1.84, "busy, processor": 1.9,
    "idle, other programs": 0.031, "busy, other programs": 0.052, "ratios": [2.1, 2.0, 2.3],
}  # fmt: skip
BUSY = {
    "cores": 2, "threads": 2, "load before": 0.4, "pairs": 400, "batch": 40, "rounds": 3,
    "rows": [{"method": "bc", "kernel": "torch", "networks": 50, "steps": 1000} | TIMES],
}  # fmt: skip


def test_ratios_have_quartiles_by_both_clocks() -> None:
    line = step_table(STEP).splitlines()[-1]
    assert line == "| c | 1.21 (1.20 … 1.25) | 1.22 (1.20 … 1.30) | ≤ 1.25 |"
    assert "BC 8.1 / 16.2; matrix products reach 181.5 GFLOP/s" in step_sentence(STEP)


def test_phases_are_microseconds_and_shares_of_their_own_step() -> None:
    assert phases_table(PHASES).splitlines() == [
        "| phase | BC | Counter-BC |",
        "|---|---|---|",
        "| forward | 2.00 (25%) | 2.50 (25%) |",
        "| backward | 4.00 (50%) | 4.50 (45%) |",
        "| rest | 2.00 (25%) | 3.00 (30%) |",
        "| whole step | 8.00 (100%) | 10.00 (100%) |",
    ]
    assert "one core of a CPU, load 0.25 on 2 cores before the run" in phases_sentence(PHASES)


def test_methods_of_which_the_run_has_no_step_are_named() -> None:
    missing = "numbers; not measured yet: Counter-BC, Weighted-BC, ILEED, BC-RNN"
    assert phases_sentence(PHASES).endswith(missing)
    rates: dict[str, float] = dict.fromkeys(NAMES, 50.0)
    assert phases_sentence(PHASES | {"GFLOP/s": rates}).endswith("vectors of 8 numbers")


def test_the_two_passes_do_the_products_of_a_step_in_their_part_of_its_time() -> None:
    assert rates_table(PHASES).splitlines()[2:] == [
        "| BC's two passes | 80 | 1.00 | 0.40 |",  # 60 · 8 / (2 + 4)
        "| BC's whole step | 60 | 0.75 | 0.30 |",
        "| BCND's whole step | 50 | 0.62 | 0.25 |",
        "| large products by torch | 80 | 1.00 | 0.40 |",
        "| multiply-adds in registers | 200 | 2.50 | 1.00 |",
    ]


def test_a_busy_machine_stands_beside_an_idle_one() -> None:
    line = "| bc | torch | 50 × 1,000 | 2.00 s | 4.21 s | 2.10 (2.00 … 2.30) | 1.84 / 1.90 s |"
    assert busy_table(BUSY).splitlines()[-1] == line
    assert "the rest of the machine used 3% to 5% of the cores" in busy_sentence(BUSY)


def test_tables_say_so_where_nothing_was_measured(tmp_path: Path) -> None:
    assert set(sections(tmp_path)["benchmarks"].values()) == {"Not run yet."}
