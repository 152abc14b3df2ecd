"""Measure how fast populations train on a GPU.

    python benchmarks/gpu.py [--out gpu.json]

Rows of the result:
- microseconds per model-step (one gradient step of one network) for populations of 50, 250 and 2000
  with 400 pairs and batch 40, as the difference between a long and a short training, so that set-up
  and capture do not count;
- the share of the measured peak of float32 matrix products;
- seconds to train 50 seeds of the paper's five methods with 100 … 1600 pairs, set-up included.

Finished rows stay in the output file; delete them there to measure them again.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch

from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.errors import InfeasibleActions
from counterbc.trainer import train

FLOPS = 3 * 2 * 40 * (4 * 64 + 64 * 64 + 64 * 4) - 2 * 40 * 4 * 64  # of a BC model-step
GPU_METHODS = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")


def seconds(method: str, members: int, steps: int, pairs: int = 400) -> float:
    """Return the seconds of a whole training."""
    demos = demonstrate("intersection", UniformNoise(0.5), pairs, 0)
    start = time.perf_counter()
    train(demos, method, seeds=members, steps=steps, device="cuda", radius=0.4, progress=False)
    return time.perf_counter() - start


def per_model_step(method: str, members: int, repeats: int = 3) -> float:
    """Return microseconds per model-step, the median of some repeats."""
    base, many = 500, max(3500, 1_500_000 // members)  # else set-up drowns the difference
    difference = median(
        seconds(method, members, many) - seconds(method, members, base) for _ in range(repeats)
    )
    return difference / (many - base) / members * 1e6


def peak(size: int = 8192, repeats: int = 20) -> float:
    """Return the float32 FLOP/s of large matrix products."""
    a = torch.randn(size, size, device="cuda")
    for _ in range(3):
        a @ a
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(repeats):
        a @ a
    torch.cuda.synchronize()
    return 2 * size**3 * repeats / (time.perf_counter() - start)


def rows() -> Iterator[tuple[str, Callable[[], float]]]:
    """Yield the name of each row and the function that measures it."""
    yield "TFLOP/s of large float32 products", lambda: peak() / 1e12
    for members in (50, 250, 2000):
        for method in ("bc", "counter-bc"):
            name = f"microseconds per model-step, {members} members, {method}"
            yield name, partial(per_model_step, method, members)
    for pairs in (100, 200, 400, 800, 1600):
        for method in GPU_METHODS:
            name = f"seconds for 50 seeds, {pairs} pairs, {method}"
            yield name, partial(seconds, method, 50, 10_000, pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=Path("gpu.json"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = json.loads(options.out.read_text()) if options.out.exists() else {}
    result |= {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    for method in GPU_METHODS:
        seconds(method, 50, 10)  # the first call loads libraries and compiles
    for name, measure in rows():
        if name not in result:
            result[name] = round(measure(), 3)
            print(f"{name}: {result[name]}", flush=True)
            options.out.write_text(json.dumps(result, indent=1) + "\n")
    for members in (50, 250, 2000):
        name = f"microseconds per model-step, {members} members"
        bc, cbc = result[f"{name}, bc"], result[f"{name}, counter-bc"]
        share = FLOPS / (bc * 1e6) / result["TFLOP/s of large float32 products"]
        print(f"{members} members: Counter-BC / BC {cbc / bc:.2f}, BC at {share:.1%} of that peak")


if __name__ == "__main__":
    main()
