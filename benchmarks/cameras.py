"""Measure how fast policies train on frames alone, on frames and state, and on two cameras.

    python -m benchmarks.cameras --device cuda [--json benchmarks/results/cameras.json]
    python -m benchmarks.cameras

Without a GPU the numbers are small, so that the second line takes a minute. Frames are random
bytes of the size of Car Racing's, since the time of a step does not depend on what they show. All
variants are measured in turn, several rounds after a warm-up; a step is the difference between a
long and a short training, so that set-up and capture do not count. Medians over the rounds are
printed, and the speed relative to frames alone, which is the median of the ratios within a round.
The file holds one section for each kind of device, and is written after each policy.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.trainer import train
from counterbc.training.run import versions

IMAGE, STATE, ACTION, EPISODES = (96, 96, 3), 7, 3, 10
ALONE = "frames alone"
VARIANTS = {ALONE: (1, False), "frames and state": (1, True), "two cameras and state": (2, True)}
"""The number of cameras, and whether there is a vector."""
POLICIES: dict[str, tuple[str, dict[str, Any]]] = {
    "bc, gaussian-cnn": ("bc", {}),
    "counter-bc, gaussian-cnn": ("counter-bc", {"radius": 0.3}),
    "bc, flow-cnn": ("bc", {"policy": "flow-cnn"}),
}
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is trained."""

    pairs: int
    members: int
    batch: int
    short: int
    long: int
    rounds: int


SIZES = {
    "cpu": Sizes(pairs=200, members=1, batch=8, short=2, long=8, rounds=3),
    "cuda": Sizes(pairs=2000, members=5, batch=256, short=20, long=120, rounds=4),
}


def demonstrations(cameras: int, state: bool, pairs: int) -> Demonstrations:
    """Return random demonstrations with this many cameras, with or without a vector."""
    rng, length = np.random.default_rng(0), pairs // EPISODES
    episodes = []
    for _ in range(EPISODES):
        images = [rng.integers(0, 256, (length, *IMAGE), np.uint8) for _ in range(cameras)]
        named = {f"camera_{i}": image for i, image in enumerate(images)}
        obs = rng.normal(size=(length, STATE)) if state else named.pop("camera_0")
        action = rng.uniform(-1, 1, (length, ACTION))
        episodes.append(Episode(obs, action, images=named))
    return Demonstrations(tuple(episodes), np.full(ACTION, -1.0), np.ones(ACTION))


def step_seconds(demos: Demonstrations, policy: str, sizes: Sizes, device: str) -> float:
    """Return the seconds of one gradient step of all members."""
    method, settings = POLICIES[policy]

    def seconds(steps: int) -> float:
        start = time.perf_counter()
        train(
            demos, method, seeds=sizes.members, steps=steps, batch=sizes.batch, lag=0.0,
            offsets="none", ensemble=1, device=device, progress=False, **settings,
        )  # fmt: skip
        return time.perf_counter() - start  # parameters are on the CPU by now

    return (seconds(sizes.long) - seconds(sizes.short)) / (sizes.long - sizes.short)


def measure(policy: str, data: dict[str, Demonstrations], sizes: Sizes, device: str) -> Row:
    """Return the milliseconds of a step of each variant, and its speed beside frames alone."""
    times: dict[str, list[float]] = {name: [] for name in data}
    for number in range(sizes.rounds + 1):  # the first is a warm-up
        for name, demos in data.items():
            value = step_seconds(demos, policy, sizes, device)
            times[name] += [value] if number else []
    ratios = {
        name: [alone / both for alone, both in zip(times[ALONE], values, strict=True)]
        for name, values in times.items()
    }
    return {
        "policy": policy,
        "ms": {name: 1e3 * median(values) for name, values in times.items()},
        "speed": {name: median(values) for name, values in ratios.items()},
        "speeds": ratios,
    }


def line(row: Row) -> str:
    """Return what was measured of one policy in one line."""
    parts = [f"{name} {row['ms'][name]:.2f} ms ({row['speed'][name]:.2f})" for name in row["ms"]]
    return f"{row['policy']}: {', '.join(parts)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=tuple(SIZES), default="cpu")
    parser.add_argument("--json", type=Path, default=None, help="file that keeps the sections")
    options = parser.parse_args()
    sizes, out = SIZES[options.device], options.json
    kept = json.loads(out.read_text()) if out is not None and out.exists() else {}
    cuda = options.device == "cuda"
    data = {name: demonstrations(*parts, sizes.pairs) for name, parts in VARIANTS.items()}
    rows: list[Row] = []
    print("milliseconds of a gradient step, and the speed beside frames alone", flush=True)
    for policy in POLICIES:
        rows.append(measure(policy, data, sizes, options.device))
        print(line(rows[-1]), flush=True)
        kept[options.device] = {
            "device": torch.cuda.get_device_name() if cuda else platform.machine(),
            "sizes": vars(sizes), "versions": versions(), "rows": rows,
        }  # fmt: skip
        if out is not None:
            out.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
