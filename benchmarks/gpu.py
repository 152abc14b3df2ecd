"""Measure how fast populations train on a GPU.

    python benchmarks/gpu.py [--out gpu.json] [--repeats 5] [--complete]

Every number is a whole warm call of `train()`, set-up included, with the lag and the radius given;
libraries are loaded and kernels compiled before. A file that exists is written again; `--complete`
keeps the rows of an unfinished one and measures the others. The sections of the result:

- "peak": TFLOP/s of large float32 products, before and after;
- "populations": seconds of 50, 250 and 2000 members for 10,000 steps with 400 pairs and batch 40,
  and from their median microseconds per model-step (one gradient step of one network), TFLOP/s and
  the clock of the multiprocessors during the call;
- "methods": seconds of 50 seeds of every method for 10,000 steps, by the number of pairs;
- "profile": microseconds per model-step of 2000 members: the whole call, what the GPU does in it by
  kind of work, and the rest, in which it waits for the host (three calls, and one profiled);
- "lag": seconds that choosing the lag adds to a call, once for a dataset.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.errors import InfeasibleActions
from counterbc.methods import METHODS
from counterbc.trainer import train

FLOPS = 3 * 2 * 40 * (4 * 64 + 64 * 64 + 64 * 4) - 2 * 40 * 4 * 64  # of a BC model-step
STEPS, PAIRS = 10_000, 400
MEMBERS = (50, 250, 2000)
SIZES = (100, 200, 400, 800, 1600)
PAPER = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")
NATIVE = (*PAPER, "ileed")
_EVERY = 0.1  # seconds between two readings of the clock


def demonstrations(pairs: int) -> Demonstrations:
    """Return noisy demonstrations of two operators, of whom the first is labelled expert."""
    demos = demonstrate("intersection", UniformNoise(0.5), pairs, 0)
    episodes = tuple(
        replace(episode, operator="ab"[i % 2]) for i, episode in enumerate(demos.episodes)
    )
    expert = tuple(episode.name for episode in episodes if episode.operator == "a")
    return replace(demos, episodes=episodes, masks={"expert": expert})


def seconds(
    method: str, members: int, steps: int = STEPS, pairs: int = PAIRS, **changes: Any
) -> float:
    """Return the seconds of a whole training; it names its kernel in `kernels`."""
    demos = demonstrations(pairs)
    settings: dict[str, Any] = {"radius": 0.4, "lag": 0.0, "offsets": "none", "ensemble": 1}
    torch.cuda.synchronize()
    start = time.perf_counter()
    policies = train(
        demos, method, seeds=members, steps=steps, device="cuda", progress=False,
        **(settings | changes),
    )  # fmt: skip
    duration = time.perf_counter() - start
    kernels[method] = policies.run_config.kernel
    return round(duration, 4)


kernels: dict[str, str] = {}
"""The kernel that trained each method last."""


def peak(size: int = 8192, repeats: int = 20) -> float:
    """Return the float32 TFLOP/s of large matrix products."""
    a = torch.randn(size, size, device="cuda")
    for _ in range(3):
        a @ a
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(repeats):
        a @ a
    torch.cuda.synchronize()
    return round(2 * size**3 * repeats / (time.perf_counter() - start) / 1e12, 2)


@contextmanager
def clocks() -> Iterator[list[int]]:
    """Collect the clock of the multiprocessors in MHz, read while the context lasts."""
    readings: list[int] = []
    stop = threading.Event()
    query = ["nvidia-smi", "--query-gpu=clocks.sm", "--format=csv,noheader,nounits"]

    def watch() -> None:
        while not stop.wait(_EVERY):
            text = subprocess.run(query, capture_output=True, text=True, check=False).stdout
            readings.extend(int(line) for line in text.split() if line.isdigit())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield readings
    finally:
        stop.set()
        thread.join()


def population(method: str, members: int, repeats: int) -> dict[str, Any]:
    """Return the row of one population."""
    with clocks() as readings:
        times = [seconds(method, members) for _ in range(repeats)]
    microseconds = median(times) / (members * STEPS) * 1e6
    row = {"method": method, "members": members, "seconds": times, "kernel": kernels[method]}
    row |= {"microseconds": round(microseconds, 4), "TFLOP/s": round(FLOPS / microseconds / 1e6, 2)}
    readings = readings or [0]
    return row | {"MHz": [min(readings), round(median(readings)), max(readings)]}


def profile(method: str, members: int = 2000, steps: int = STEPS) -> dict[str, Any]:
    """Return microseconds per model-step on the GPU by kind of work, and of the whole call."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiler

    whole = median(seconds(method, members, steps) for _ in range(3))  # without a profiler
    with profiler(activities=[ProfilerActivity.CUDA]) as result:
        seconds(method, members, steps)
    work = work_on_gpu((e.key, e.self_device_time_total) for e in result.key_averages())
    return {"method": method} | profile_row(1e6 * whole, work, members * steps)


def work_on_gpu(events: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the microseconds of events on the GPU by kind of work."""
    work = {"steps": 0.0, "ordering pairs": 0.0, "copies and other": 0.0}
    for key, microseconds in events:
        name = key.lower()
        kind = "steps" if name.startswith("train_") else "copies and other"
        is_order = name == "draw_order" or "sort" in name  # a sort of torch: of longer lists
        work["ordering pairs" if is_order else kind] += microseconds
    return work


def profile_row(whole: float, work: dict[str, float], model_steps: int) -> dict[str, float]:
    """Return microseconds per model-step of all work, of the rest and of the whole call."""
    times = work | {"waiting for the host": whole - sum(work.values()), "whole call": whole}
    return {kind: round(time / model_steps, 4) for kind, time in times.items()}


def measure(result: dict[str, Any], repeats: int) -> Iterator[dict[str, Any]]:
    """Measure the rows that the result does not have yet, and yield each."""
    for method in PAPER:
        seconds(method, 50, 10)  # loads libraries and compiles
    result.setdefault("peak", [peak()])
    for members in reversed(MEMBERS):
        for method in ("bc", "counter-bc"):
            if is_missing(result, "populations", method=method, members=members):
                row = population(method, members, repeats)
                result["populations"].append(row)
                yield row
    for method in sorted(METHODS, key=lambda x: x not in NATIVE):
        for pairs in SIZES if method in PAPER else (PAIRS,):
            if is_missing(result, "methods", method=method, pairs=pairs):
                row = seeds_row(method, pairs)
                result["methods"].append(row)
                yield row
    for method in ("bc", "counter-bc"):
        if is_missing(result, "profile", method=method):
            result["profile"].append(profile(method))
            yield result["profile"][-1]
    if "lag" not in result:
        plain, searching = (seconds("bc", 50, 1000, lag=lag) for lag in (0.0, "auto"))
        result["lag"] = round(searching - plain, 3)
        yield {"lag": result["lag"]}
    if len(result["peak"]) == 1:
        result["peak"].append(peak())
        yield {"peak": result["peak"]}


def is_missing(result: dict[str, Any], section: str, **facts: Any) -> bool:
    """Return whether a section, which is made if need be, has no row with these facts."""
    rows = result.setdefault(section, [])
    return not any(all(row[k] == v for k, v in facts.items()) for row in rows)


def seeds_row(method: str, pairs: int) -> dict[str, Any]:
    """Return the row of 50 seeds of a method."""
    seconds(method, 50, 10, pairs=pairs)  # compiles for the batch of this size
    times = [seconds(method, 50, pairs=pairs) for _ in range(1 + (pairs == PAIRS))]
    return {"method": method, "pairs": pairs, "seconds": times, "kernel": kernels[method]}


def stored_rows(path: Path) -> dict[str, Any]:
    """Return the result in a file that may be unfinished, or an empty one if there is no file."""
    return dict(json.loads(path.read_text())) if path.exists() else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=Path("gpu.json"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--complete", action="store_true", help="keep the rows of the file")
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    result = stored_rows(options.out) if options.complete else {}
    result |= {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    for row in measure(result, options.repeats):
        print(json.dumps(row), flush=True)
        options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
