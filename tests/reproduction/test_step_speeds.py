"""The tables of steps and of trainings on a busy machine, in the docs."""

from __future__ import annotations

from pathlib import Path

from reproduction.step_speeds import busy_table, sections, step_sentence, step_table

STEP = {
    "threads": 2,
    "load before": 0.1,
    "rounds": 12,
    "ratios": [{"what": "c", "wall": [1.21, 1.2, 1.25], "cpu": [1.22, 1.2, 1.3], "goal": "≤ 1.25"}],
    "microseconds per network and step": {"wall": {"BC": 8.1}, "cpu": {"BC": 16.2}},
    "peak GFLOP/s": {"wall": 181.5, "cpu": 90.2},
}
BUSY = {
    "method": "bc", "kernel": "torch", "seeds": 2, "steps": 1000, "idle": 2.0, "busy": 4.21,
    "idle, processor": 1.84, "busy, processor": 1.9, "ratio": 2.1,
}  # fmt: skip


def test_ratios_have_quartiles_by_both_clocks() -> None:
    line = step_table(STEP).splitlines()[-1]
    assert line == "| c | 1.21 (1.20 … 1.25) | 1.22 (1.20 … 1.30) | ≤ 1.25 |"
    assert "BC 8.1 / 16.2; matrix products reach 181.5 GFLOP/s" in step_sentence(STEP)


def test_a_busy_machine_stands_beside_an_idle_one() -> None:
    line = busy_table({"rows": [BUSY]}).splitlines()[-1]
    assert line == "| bc | torch | 2 × 1000 | 2.0 s | 4.2 s | 2.10 | 1.8 / 1.9 s |"


def test_tables_say_so_where_nothing_was_measured(tmp_path: Path) -> None:
    assert set(sections(tmp_path)["benchmarks"].values()) == {"Not run yet."}
