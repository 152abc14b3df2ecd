"""The tables of the docs about training on a GPU.

`benchmarks/gpu.py` and `benchmarks/gpu_kernel.py` measure them, and `benchmarks/gpu_wide.py` those
of `gpu_wide.py`.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from reproduction import gpu_wide
from reproduction.markdown import markdown_table
from reproduction.options import DOCS
from reproduction.records import read

FOLDER = DOCS.parent / "benchmarks" / "results"
NONE = "Not measured yet."
FLOPS = {"bc": 1_085_440, "counter-bc": 1_085_440, "weighted-bc": 2_124_800, "bc-rnn": 13_455_360}
"""Floating-point operations of the matrix products in a model-step of batch 40."""
WHOLE = "whole call"


def sections(folder: Path = FOLDER) -> dict[str, dict[str, str]]:
    """Return the tables for the page of benchmarks."""
    paths = folder / "gpu.json", folder / "gpu-kernel.json"
    calls, kernel = (read(path) if path.exists() else {} for path in paths)
    makers = {
        "populations": (populations, calls), "methods": (methods, calls),
        "profile": (profile, calls),
        "phases": (phases, kernel), "variants": (variants, kernel), "large": (large, kernel),
    }  # fmt: skip
    tables = {
        f"gpu {name}": make(result) if result.get(name) else NONE
        for name, (make, result) in makers.items()
    }
    both = kernel | {"peak": calls.get("peak")}
    wide = read(folder / "gpu-wide.json") if (folder / "gpu-wide.json").exists() else {}
    for name in ("peak", "steps", "rounding", "trainings"):
        maker = getattr(gpu_wide, name)
        tables[f"gpu wide {name}"] = maker(wide) if wide.get(name) else NONE
    tables["gpu shares"] = shares(both) if both["peak"] and kernel.get("variants") else NONE
    return {"benchmarks": tables}


def populations(result: dict[str, Any]) -> str:
    """Return the time of a model-step by size of the population, with its share of the peak."""
    lines = [
        [
            f"{row['members']}", row["method"], f"{median(row['seconds']):.2f}",
            f"{row['microseconds']:.3f}", f"{row['TFLOP/s']:.1f}",
            f"{row['TFLOP/s'] / result['peak'][0]:.1%}", f"{row['MHz'][1]}",
        ]
        for row in result["populations"]
    ]  # fmt: skip
    head = ["members", "method", "seconds", "µs per model-step", "TFLOP/s", "share of peak", "MHz"]
    return markdown_table(head, lines)


def methods(result: dict[str, Any]) -> str:
    """Return the seconds of 50 seeds by method and number of pairs, each with its kernel."""
    sizes = sorted({row["pairs"] for row in result["methods"]})
    cells: dict[str, dict[int, str]] = {}
    for row in result["methods"]:
        text = f"{median(row['seconds']):.2f} {row['kernel']}"
        cells.setdefault(row["method"], {})[row["pairs"]] = text
    lines = [[name, *(by_size.get(size, "") for size in sizes)] for name, by_size in cells.items()]
    return markdown_table(["method", *(f"{size} pairs" for size in sizes)], lines)


def shares(result: dict[str, Any]) -> str:
    """Return the rate of the fastest CUDA kernel of each population, as a share of the peak."""
    steps: dict[tuple[str, int], float] = {}
    for row in result["variants"]:
        if row["kernel"] == "cuda":
            key = row["method"], row["members"]
            steps[key] = min(row["step"], steps.get(key, row["step"]))
    rates = {key: key[1] * FLOPS[key[0]] / step / 1e6 for key, step in steps.items()}
    lines = [
        [method, f"{members}", f"{rate:.1f}", f"{rate / result['peak'][0]:.0%}"]
        for (method, members), rate in rates.items()
    ]
    return markdown_table(["method", "members", "TFLOP/s", "share of peak"], lines)


def profile(result: dict[str, Any]) -> str:
    """Return where a whole call spends its time, in microseconds per model-step and in percent."""
    rows = {row["method"]: row for row in result["profile"]}
    kinds = [key for key in next(iter(rows.values())) if key != "method"]
    lines = [
        [kind, *(f"{r[kind]:.4f} ({r[kind] / r[WHOLE]:.0%})" for r in rows.values())]
        for kind in kinds
    ]
    return markdown_table(["", *rows], lines)


def phases(result: dict[str, Any]) -> str:
    """Return what each phase of the CUDA kernel adds when it is done twice."""
    times: dict[str, dict[str, float]] = {}
    for row in result["phases"]:
        times.setdefault(row["method"], {})[row["phase"]] = row["microseconds"]
    names = [name for name in next(iter(times.values())) if name != "all"]
    lines = [[name, *(f"{x[name] - x['all']:.4f}" for x in times.values())] for name in names]
    lines.append(["the whole kernel", *(f"{x['all']:.4f}" for x in times.values())])
    return markdown_table(["phase", *times], lines)


def variants(result: dict[str, Any]) -> str:
    """Return the time of a step of all members by kernel, threads and blocks."""
    rows = result["variants"]
    columns = list(dict.fromkeys((row["method"], row["members"]) for row in rows))
    kinds = sorted({_kind(row) for row in rows})
    cells = {(_kind(row), row["method"], row["members"]): f"{row['step']:.1f}" for row in rows}
    lines = [[kind, *(cells.get((kind, *column), "") for column in columns)] for kind in kinds]
    head = [f"{method}, {members}" for method, members in columns]
    return markdown_table(["kernel, threads per network, blocks", *head], lines)


def _kind(row: dict[str, Any]) -> str:
    return ", ".join(str(row[key]) for key in ("kernel", "threads", "blocks") if key in row)


def large(result: dict[str, Any]) -> str:
    """Return the time of a step of all members with large batches."""
    keys = ("method", "batch", "members")
    lines = [
        [*(f"{row[key]}" for key in keys), f"{row['cuda']:.0f}", f"{row['torch']:.0f}"]
        for row in result["large"]
    ]
    return markdown_table([*keys, "cuda", "torch"], lines)
