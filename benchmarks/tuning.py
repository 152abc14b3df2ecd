"""Measure what choosing everything from the data costs, beside a training with everything fixed.

    python benchmarks/tuning.py

Ten policies of Counter-BC are trained for 10,000 steps with Δ 0.4, no lag and one network each. On
the same demonstrations, whole episodes of noisy teachers, `tune` chooses lag, offsets, Δ, steps and
ensemble. Actions are recorded within their bounds and learned as they are. Both are measured in
turn after a warm-up, in one process, as medians of three; and once more on four and sixteen times
as many pairs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median

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


def main() -> None:
    """Print the seconds and their ratio for every world."""
    print("| world | pairs | train, fixed | tune | tune / train |\n|---|---|---|---|---|")
    for world in WORLDS:
        for pairs in PAIRS:
            demos = demonstrate(world, UniformNoise(0.3), pairs, 0, actions_are="taken")
            fixed = partial(
                train, demos, "counter-bc", seeds=10, radius=0.4, lag=0.0, ensemble=1,
                offsets="none", censored=False, progress=False,
            )  # fmt: skip
            fixed(steps=10)  # compiles
            repeats = 3 if pairs == PAIRS[0] else 1
            search = partial(tune, demos, censored=False, progress=False)
            calls = (partial(fixed, steps=10_000), search)
            times = [[seconds(call) for call in calls] for _ in range(repeats)]
            trained, tuned = (median(column) for column in zip(*times, strict=True))
            ratio = f"{tuned / trained:.1f}"
            print(f"| {world} | {pairs} | {trained:.1f} s | {tuned:.1f} s | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
