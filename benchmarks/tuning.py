"""Measure what choosing everything from the data costs, beside a training with everything fixed.

    python benchmarks/tuning.py [--json benchmarks/results/tuning.json]

Ten policies of Counter-BC are trained for 10,000 steps with Δ 0.4, no lag and one network each. On
the same demonstrations, whole episodes of noisy teachers, `tune` chooses lag, offsets, Δ, steps and
ensemble. Both are measured in turn after a warm-up, in one process, as medians of three; and once
more on four and sixteen times as many pairs. Rows in the output file are not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch

from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.selection.tuner import tune
from counterbc.trainer import train

WORLDS = ("intersection", "cartpole", "air-hockey")
PAIRS = (400, 1600, 6400)


def seconds(function: Callable[[], object]) -> float:
    """Return the wall time of a call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def measure(world: str, pairs: int, steps: int) -> dict[str, Any]:
    """Return the seconds of a training and of tuning on the same demonstrations."""
    demos = demonstrate(world, UniformNoise(0.3), pairs, 0, actions_are="taken")
    fixed = partial(
        train, demos, "counter-bc", seeds=10, radius=0.4, lag=0.0, ensemble=1, offsets="none",
        censored=False, progress=False,
    )  # fmt: skip
    fixed(steps=10)  # compiles
    repeats = 3 if pairs == PAIRS[0] else 1
    search = partial(tune, demos, censored=False, progress=False)
    calls = (partial(fixed, steps=steps), search)
    times = [[seconds(call) for call in calls] for _ in range(repeats)]
    trained, tuned = (round(median(column), 2) for column in zip(*times, strict=True))
    about = {"world": world, "pairs": pairs, "steps": steps, "threads": torch.get_num_threads()}
    return about | {"train": trained, "tune": tuned}


def main() -> None:
    """Print the seconds and their ratio for every world and number of pairs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=WORLDS)
    parser.add_argument("--pairs", nargs="+", type=int, default=PAIRS)
    parser.add_argument("--steps", type=int, default=10_000, help="steps of the fixed training")
    parser.add_argument("--json", type=Path, default=None, help="file that keeps the rows")
    options = parser.parse_args()
    out = options.json
    rows = json.loads(out.read_text()) if out is not None and out.exists() else []
    finished_rows = {(r["world"], r["pairs"]) for r in rows}
    for world in options.worlds:
        for pairs in options.pairs:
            if (world, pairs) in finished_rows:
                continue
            row = measure(world, pairs, options.steps)
            rows.append(row)
            print(
                f"{world}, {pairs} pairs: train {row['train']:.1f} s, tune {row['tune']:.1f} s, "
                f"{row['tune'] / row['train']:.1f} times",
                flush=True,
            )
            if out is not None:
                out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
