"""The tables of the docs about wide networks on a GPU, which `benchmarks/gpu_wide.py` measures."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import mean, stdev
from typing import Any

from reproduction.markdown import markdown_table

LABELS = {"float32": "float32", "tf32": "TF32", "bfloat16": "bfloat16", "float64": "float64"}
KINDS = ("float32", "tf32", "bfloat16")


def peak(result: dict[str, Any]) -> str:
    """Return the rate of large products by kind."""
    cells = [f"{result['peak'][kind]:.0f}" for kind in KINDS]
    return markdown_table(["", *_labels(KINDS)], [["TFLOP/s", *cells]])


def steps(result: dict[str, Any]) -> str:
    """Return the time of a step by kind of product, with its rate and its share of the peak."""
    lines = []
    for (shape, method, members), rows in _by(result["steps"], "shape", "method", "members"):
        cells = [_step(rows[kind], result["peak"][kind]) for kind in KINDS]
        gain = rows["float32"]["step"] / rows["tf32"]["step"]
        lines.append([shape, method, f"{members}", *cells, f"{gain:.1f}"])
    head = ["layers", "method", "members", *_labels(KINDS), "float32 / TF32"]
    return markdown_table(head, lines)


def _step(row: dict[str, Any], highest: float) -> str:
    rate = row["TFLOP/s"]
    return f"{row['step']:.0f}: {rate:.3g} ({rate / highest:.0%})"


def rounding(result: dict[str, Any]) -> str:
    """Return how far the state is from float64, and a member alone from the same among ten."""
    lines = [
        [
            shape,
            *(f"{rows[kind]['error']:.0e}" for kind in KINDS),
            *(f"{rows[kind]['alone']:.0e}" for kind in KINDS),
        ]
        for (shape,), rows in _by(result["rounding"], "shape")
    ]
    alone = [f"{x}, alone" for x in _labels(KINDS)]
    return markdown_table(["layers", *_labels(KINDS), *alone], lines)


def trainings(result: dict[str, Any]) -> str:
    """Return held-out errors after whole trainings, and how they differ from those of float64."""
    lines = []
    for (shape, method), rows in _by(result["trainings"], "shape", "method"):
        for kind, row in rows.items():
            error, loss = mean(row["held_out"]), mean(row["loss"])
            lines.append([
                shape, method, LABELS[kind], f"{row['seconds']:.1f}", f"{error:.4f}",
                _change(row["held_out"], rows["float64"]["held_out"]), f"{loss:.3f}",
            ])  # fmt: skip
    head = ["layers", "method", "products", "seconds", "held-out error", "change", "last loss"]
    return markdown_table(head, lines)


def _change(errors: list[float], reference: list[float]) -> str:
    """Return the mean relative change of the seeds with a 95 % interval of normal errors."""
    if errors is reference:
        return ""  # compared with itself
    changes = [a / b - 1 for a, b in zip(errors, reference, strict=True)]
    half = 1.96 * stdev(changes) / math.sqrt(len(changes))
    return f"{mean(changes):+.1%} ± {half:.1%}"


def _labels(kinds: Iterable[str]) -> list[str]:
    return [LABELS[kind] for kind in kinds]


def _by(
    rows: list[dict[str, Any]], *keys: str
) -> Iterable[tuple[tuple[Any, ...], dict[str, dict[str, Any]]]]:
    """Return the rows of each combination of these facts by their kind of product."""
    groups: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[k] for k in keys), {})[row["products"]] = row
    whole = {"float32", "tf32", "bfloat16"}
    return [(key, group) for key, group in groups.items() if whole <= set(group)]
