"""The tables of steps and of trainings on a busy machine, in the docs."""

from __future__ import annotations

from pathlib import Path

from reproduction.step_speeds import busy_sentence, busy_table, sections, step_sentence, step_table

STEP = {
    "threads": 2,
    "load before": 0.1,
    "rounds": 12,
    "ratios": [{"what": "c", "wall": [1.21, 1.2, 1.25], "cpu": [1.22, 1.2, 1.3], "goal": "≤ 1.25"}],
    "microseconds per network and step": {"wall": {"BC": 8.1}, "cpu": {"BC": 16.2}},
    "peak GFLOP/s": {"wall": 181.5, "cpu": 90.2},
}
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


def test_a_busy_machine_stands_beside_an_idle_one() -> None:
    line = "| bc | torch | 50 × 1,000 | 2.00 s | 4.21 s | 2.10 (2.00 … 2.30) | 1.84 / 1.90 s |"
    assert busy_table(BUSY).splitlines()[-1] == line
    assert "the rest of the machine used 3% to 5% of the cores" in busy_sentence(BUSY)


def test_tables_say_so_where_nothing_was_measured(tmp_path: Path) -> None:
    assert set(sections(tmp_path)["benchmarks"].values()) == {"Not run yet."}
