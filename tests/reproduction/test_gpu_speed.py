"""The tables about training on a GPU, from made-up times."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.step import flops
from reproduction import gpu_speed

RESULT = {
    "peak": [50.0, 51.0],
    "populations": [
        {
            "method": "bc", "members": 2000, "seconds": [2.0, 3.0, 2.5], "microseconds": 0.125,
            "TFLOP/s": 8.7, "MHz": [1900, 1980, 1980],
        }
    ],
    "methods": [
        {"method": "bc", "pairs": 400, "seconds": [0.4, 0.5], "kernel": "triton"},
        {"method": "bc", "pairs": 800, "seconds": [0.7], "kernel": "triton"},
        {"method": "ileed", "pairs": 400, "seconds": [1.25], "kernel": "triton"},
    ],
}  # fmt: skip


def test_tables_have_medians_and_the_share_of_the_peak(tmp_path: Path) -> None:
    (tmp_path / "gpu.json").write_text(json.dumps(RESULT))
    tables = gpu_speed.sections(tmp_path)["benchmarks"]
    assert "| 2000 | bc | 2.50 | 0.125 | 8.7 | 17.4% | 1980 |" in tables["gpu populations"]
    assert tables["gpu methods"].splitlines()[-2:] == [
        "| bc | 0.45 triton | 0.70 triton |",
        "| ileed | 1.25 triton |  |",
    ]


def test_tables_of_the_kernel_alone(tmp_path: Path) -> None:
    times = {"all": 0.04, "Adam": 0.05}
    result = {
        "phases": [
            {"method": "bc", "phase": phase, "microseconds": value}
            for phase, value in times.items()
        ],
        "variants": [
            {"method": "bc", "members": 50, "kernel": "triton", "step": 28.55},
            {"method": "bc", "members": 50, "kernel": "cuda", "threads": 128, "blocks": 3,
             "step": 13.0},
        ],
        "large": [{"method": "bc", "batch": 256, "members": 1, "cuda": 76.1, "torch": 156.6}],
    }  # fmt: skip
    (tmp_path / "gpu-kernel.json").write_text(json.dumps(result))
    tables = gpu_speed.sections(tmp_path)["benchmarks"]
    assert "| Adam | 0.0100 |\n| the whole kernel | 0.0400 |" in tables["gpu phases"]
    assert "| cuda, 128, 3 | 13.0 |\n| triton | 28.6 |" in tables["gpu variants"]
    assert "| bc | 256 | 1 | 76 | 157 |" in tables["gpu large"]
    assert tables["gpu methods"] == gpu_speed.NONE


def test_the_profile_shows_the_share_of_the_whole_call_by_kind_of_work(tmp_path: Path) -> None:
    row = {"steps": 0.05, "sorting pairs": 0.01, "waiting for the host": 0.02, "whole call": 0.08}
    result = {"profile": [{"method": "bc"} | row, {"method": "counter-bc"} | row]}
    (tmp_path / "gpu.json").write_text(json.dumps(result))
    assert gpu_speed.sections(tmp_path)["benchmarks"]["gpu profile"].splitlines() == [
        "|  | bc | counter-bc |",
        "|---|---|---|",
        "| steps | 0.0500 (62%) | 0.0500 (62%) |",
        "| sorting pairs | 0.0100 (12%) | 0.0100 (12%) |",
        "| waiting for the host | 0.0200 (25%) | 0.0200 (25%) |",
        "| whole call | 0.0800 (100%) | 0.0800 (100%) |",
    ]


def test_the_fastest_kernel_of_a_population_has_a_share_of_the_peak(tmp_path: Path) -> None:
    row = {"method": "bc", "members": 2000, "kernel": "cuda"}
    variants = [row | {"step": 200.0}, row | {"step": 100.0}, row | {"kernel": "triton", "step": 1}]
    (tmp_path / "gpu-kernel.json").write_text(json.dumps({"variants": variants}))
    assert gpu_speed.sections(tmp_path)["benchmarks"]["gpu shares"] == gpu_speed.NONE
    (tmp_path / "gpu.json").write_text(json.dumps({"peak": [50.0]}))
    # 2000 · 1,085,440 operations in 100 µs
    shares = gpu_speed.sections(tmp_path)["benchmarks"]["gpu shares"].splitlines()
    assert shares[2:] == ["| bc | 2000 | 21.7 | 43% |"]


def test_operations_are_those_that_the_benchmark_of_a_step_counts() -> None:
    assert {method: flops(method, 40) for method in gpu_speed.FLOPS} == gpu_speed.FLOPS


def test_without_results_the_tables_say_so(tmp_path: Path) -> None:
    tables = gpu_speed.sections(tmp_path)["benchmarks"]
    assert set(tables.values()) == {gpu_speed.NONE}
