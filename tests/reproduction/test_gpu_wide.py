"""The tables about wide networks on a GPU, from made-up numbers."""

from __future__ import annotations

import json
from pathlib import Path

from reproduction import gpu_speed, gpu_wide

PEAK = {"float32": 50.0, "tf32": 400.0, "bfloat16": 800.0}


def step_rows(members: int, times: dict[str, float]) -> list[dict[str, object]]:
    facts = {"shape": "2 × 512", "method": "bc", "members": members}
    return [
        facts | {"products": kind, "step": step, "TFLOP/s": 2000 / step}
        for kind, step in times.items()
    ]


def test_a_step_has_its_rate_and_the_share_of_the_peak_of_its_products() -> None:
    rows = step_rows(10, {"float32": 200.0, "tf32": 50.0, "bfloat16": 40.0})
    table = gpu_wide.steps({"peak": PEAK, "steps": rows}).splitlines()
    assert table[2:] == ["| 2 × 512 | bc | 10 | 200: 10 (20%) | 50: 40 (10%) | 40: 50 (6%) | 4.0 |"]


def test_what_is_not_measured_with_all_products_is_left_out() -> None:
    rows = step_rows(10, {"float32": 200.0, "tf32": 50.0})
    assert gpu_wide.steps({"peak": PEAK, "steps": rows}) == "Not run yet."


def test_differences_from_float64_and_between_alone_and_among_ten_stand_side_by_side() -> None:
    rows = [
        {"shape": "2 × 128", "method": "bc", "products": kind, "error": error, "alone": error / 10}
        for kind, error in {"float32": 2e-7, "tf32": 3e-3, "bfloat16": 4e-2}.items()
    ]
    table = gpu_wide.rounding({"rounding": rows}).splitlines()
    assert table[2:] == ["| 2 × 128 | 2e-07 | 3e-03 | 4e-02 | 2e-08 | 3e-04 | 4e-03 |"]


def test_errors_after_a_training_change_by_seeds_relative_to_float64() -> None:
    errors = {
        "float64": [0.1, 0.2], "float32": [0.1, 0.2], "tf32": [0.11, 0.22], "bfloat16": [0.1, 0.3],
    }  # fmt: skip
    rows = [
        {"shape": "2 × 512", "method": "bc", "products": kind, "seconds": 2.0, "held_out": errors,
         "loss": [-1.0, -2.0]}
        for kind, errors in errors.items()
    ]  # fmt: skip
    lines = gpu_wide.trainings({"trainings": rows}).splitlines()[2:]
    assert lines[0] == "| 2 × 512 | bc | float64 | 2.0 | 0.1500 |  | -1.500 |"
    assert "| TF32 | 2.0 | 0.1650 | +10.0% ± 0.0% |" in lines[2]
    # changes of 0 and 50 %: their standard deviation is 0.3536, half of 1.96 · 0.3536 / √2 is 49 %
    assert "| bfloat16 | 2.0 | 0.2000 | +25.0% ± 49.0% |" in lines[3]


def test_the_page_of_benchmarks_has_the_tables(tmp_path: Path) -> None:
    (tmp_path / "gpu-wide.json").write_text(json.dumps({"peak": PEAK}))
    tables = gpu_speed.sections(tmp_path)["benchmarks"]
    assert "| TFLOP/s | 50 | 400 | 800 |" in tables["gpu wide peak"]
    assert tables["gpu wide steps"] == gpu_speed.NONE
