"""Measure where the native step on a CPU spends its time, and how near it is to the CPU's peak.

    python -m benchmarks.step_phases [--rounds 9] [--json benchmarks/results/step-phases.json]

A phase takes what a step with this phase done twice takes longer than a step. All variants take
turns in one thread and are measured in processor time; a number is a median over rounds. The rest
is the order of the pairs, and copying parameters before and after a block of steps. Phases are
those of BC and Counter-BC; of other methods the whole step is measured. There are two peaks:
multiply-adds of vectors in registers, and large matrix products by torch. Every method has its
share of both.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import warnings
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any
from unittest.mock import patch

from benchmarks.step import TALL, Steps, flops, multiply, population  # counterbc before torch

# isort: split
import numpy as np
import torch
from numba import njit

from counterbc.data.cores import cores
from counterbc.errors import InfeasibleActions
from counterbc.kernels import numba_kernel, numba_step
from counterbc.kernels.numba_vector import FAST, LANES, f, splat, total
from counterbc.methods import METHODS as OUR_METHODS

METHODS = ("bc", "counter-bc")
WHOLE = ("weighted-bc", "ileed", "bcnd", "bc-rnn")
"""Methods of whose steps no phases are measured."""
MEMBERS, BATCH, STEPS = 50, 40, 100
PHASES = {
    "all": "",
    "reading pairs": "gather(n, places, data, rows, history, x)",
    "forward": "forward(theta, policy, batch)",
    "loss": "gaussian_losses(head, by_head, data.actions, rows, loss, room)",
    "weights": "result += apply_weights(weights, loss, by_head)",
    "backward": "backward(theta, policy, batch, grads, spare, gru is not None)",
    "Adam": "update(theta, grads, first, second, size, root)",
}
"""The line of `numba_step.py` that is each phase."""
_CACHED = "from counterbc.kernels.numba_cache import cached_njit"
_CHAINS, _ADDS = 12, 2_000_000  # independent sums, and multiply-adds of each


def source(line: str) -> str:
    """Return the text of `numba_step.py` with a line done twice, compiled without a cache."""
    text = Path(numba_step.__file__).read_text(encoding="utf-8")
    changes = {_CACHED: "from numba import njit as cached_njit"}
    if line:
        changes[f" {line}\n"] = f" {line}; {line}\n"
    for old, new in changes.items():
        assert text.count(old) == 1, f"numba_step.py has no single {old!r}"
        text = text.replace(old, new)
    return text


def train_some(line: str) -> Any:
    """Return the native steps with a line done twice."""
    module = ModuleType("numba_step_twice")
    exec(compile(source(line), numba_step.__file__, "exec"), vars(module))
    return module.train_some


@njit(fastmath=FAST)
def multiply_add(count: int, out: Any) -> None:
    """Do `count` multiply-adds of twelve vectors that do not wait for each other."""
    half, one = splat(f(0.5)), splat(f(1))
    a = b = c = d = e = g = h = i = j = k = m = n = one
    for _ in range(count):
        a, b, c, d = a * half + one, b * half + one, c * half + one, d * half + one
        e, g, h, i = e * half + one, g * half + one, h * half + one, i * half + one
        j, k, m, n = j * half + one, k * half + one, m * half + one, n * half + one
    out[0] = total(a + b + c + d + e + g + h + i + j + k + m + n)


def seconds_of(run: Steps, count: int) -> float:
    """Return the processor seconds of a number of steps."""
    start = time.process_time()
    run(count)
    return time.process_time() - start


def phase_seconds(method: str, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of a network's step of each round, by the phase that is done twice."""
    steps = population(method, MEMBERS, BATCH, "numba")
    networks = MEMBERS * OUR_METHODS[method].shards
    lines = PHASES.items() if method in METHODS else [("all", "")]
    kernels = {phase: train_some(line) for phase, line in lines}
    seconds: dict[str, list[float]] = {phase: [] for phase in kernels}
    for round_ in range(rounds + 1):
        for phase, kernel in kernels.items():
            with patch.object(numba_kernel, "train_some", kernel):
                value = seconds_of(steps, STEPS) / STEPS / networks
            if round_:  # the first one compiles
                seconds[phase].append(value)
    return seconds


def phase_rows(method: str, seconds: dict[str, list[float]]) -> list[dict[str, Any]]:
    """Return the microseconds per network and step of each phase, of the rest and of all."""
    whole = np.array(seconds["all"])
    parts = {p: float(np.median(np.array(s) - whole)) for p, s in seconds.items() if p != "all"}
    if parts:
        parts["rest"] = float(np.median(whole)) - sum(parts.values())
    parts["all"] = float(np.median(whole))
    return [
        {"method": method, "phase": phase, "microseconds": round(1e6 * value, 3)}
        for phase, value in parts.items()
    ]


def rates(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the GFLOP/s of the whole step of each method, in which only products count."""
    return {
        row["method"]: round(flops(row["method"], BATCH) / row["microseconds"] / 1e3, 1)
        for row in rows
        if row["phase"] == "all"
    }


def shares(rates: dict[str, float], peaks: dict[str, float]) -> dict[str, dict[str, float]]:
    """Return the share of each peak that the whole step of each method reaches."""
    return {
        method: {name: round(rate / peak, 3) for name, peak in peaks.items()}
        for method, rate in rates.items()
    }


def peaks(rounds: int) -> dict[str, float]:
    """Return the GFLOP/s of one core: of multiply-adds in registers, and of matrix products."""
    out, products = np.zeros(1, np.float32), multiply()
    adds = 2 * LANES * _CHAINS * _ADDS
    runs: dict[str, tuple[Steps, int, float]] = {
        "multiply-adds": (lambda count: multiply_add(count, out), _ADDS, adds),
        "matrix products": (products, 1, 2 * TALL**3),
    }
    rates: dict[str, list[float]] = {name: [] for name in runs}
    for round_ in range(rounds + 1):
        for name, (run, count, work) in runs.items():
            rate = work / seconds_of(run, count) / 1e9
            if round_:
                rates[name].append(rate)
    return {name: round(median(values), 1) for name, values in rates.items()}


def facts(rounds: int) -> dict[str, Any]:
    """Return what is measured, and on which machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cpu = (names or [platform.processor() or "unknown CPU"])[0]
    work = {"members": MEMBERS, "batch": BATCH, "steps": STEPS, "rounds": rounds, "lanes": LANES}
    return {"cpu": cpu, "cores": cores(), "load before": round(os.getloadavg()[0], 2)} | work


def main() -> None:
    """Print and store all rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, default=None, help="file that keeps the rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    torch.set_num_threads(1)
    result = facts(options.rounds)
    result["peak GFLOP/s"] = peaks(options.rounds)
    methods = (*METHODS, *WHOLE)
    rows = [row for m in methods for row in phase_rows(m, phase_seconds(m, options.rounds))]
    result |= {"GFLOP/s": rates(rows)}
    result |= {"share of peak": shares(result["GFLOP/s"], result["peak GFLOP/s"]), "rows": rows}
    for key, value in result.items():
        print(key, value)
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
