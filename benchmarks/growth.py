"""How time and memory grow with pairs, members, counterfactuals and action dimensions.

    python benchmarks/growth.py [--device cuda] [--out growth-cpu.json]

Counter-BC on made-up data of 23 observation dimensions, batch as by default. Every point is a
process of its own, so that its peak memory is its own: resident memory on a CPU, allocated device
memory on a GPU. Seconds per step leave set-up out. Finished points are kept in the output file; the
picture is drawn beside it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc.demonstrations import Demonstrations, Episode
from counterbc.training import train

BASE = {"pairs": 10_000, "members": 10, "counterfactuals": 50, "action dimensions": 7}
AXES = {
    "pairs": [100, 1_000, 10_000, 100_000, 1_000_000],
    "members": [1, 3, 10, 30, 100],
    "counterfactuals": [10, 50, 200, 800],
    "action dimensions": [1, 2, 4, 7, 14, 28],
}


def made_up(pairs: int, size: int) -> Demonstrations:
    """Random pairs in episodes of up to 1000."""
    rng = np.random.default_rng(0)
    episodes = []
    for begin in range(0, pairs, 1000):
        length = min(1000, pairs - begin)
        obs = rng.standard_normal((length, 23), dtype=np.float32)
        noise = rng.uniform(-0.5, 0.5, (length, size)).astype(np.float32)
        episodes.append(Episode(obs, 0.5 * np.tanh(obs[:, np.arange(size) % 23]) + noise))
    return Demonstrations(tuple(episodes), action_low=-np.ones(size), action_high=np.ones(size))


def point(at: dict[str, int], device: str) -> dict[str, float]:
    """Seconds of set-up, seconds per step, and peak GiB."""
    demos = made_up(at["pairs"], at["action dimensions"])
    options: dict[str, Any] = {"seeds": at["members"], "device": device, "progress": False}
    options |= {"counterfactuals": at["counterfactuals"], "feasible": "project"}
    few, many = (20, 220) if device == "cpu" else (200, 2200)
    train(demos, "counter-bc", steps=2, **options)  # the first training loads libraries
    times = []
    for steps in (few, many):
        began = time.perf_counter()
        train(demos, "counter-bc", steps=steps, **options)
        times.append(time.perf_counter() - began)
    per_step = (times[1] - times[0]) / (many - few)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if device == "cuda":
        memory = torch.cuda.max_memory_allocated() / 2**30
    return {
        "set-up": times[0] - few * per_step, "per step": per_step, "GiB": memory,
    }  # fmt: skip


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, len(AXES), figsize=(11, 4.6), sharex="col")
    for column, axis in enumerate(AXES):
        mine = sorted((r for r in rows if r["axis"] == axis), key=lambda r: r["value"])
        x = [float(r["value"]) for r in mine]
        for row, (key, factor) in enumerate((("per step", 1e3), ("GiB", 1.0))):
            panel = axes[row, column]
            panel.plot(x, [r[key] * factor for r in mine], "o-", color="#D55E00", ms=4, lw=1)
            panel.set_xscale("log")
            panel.set_ylim(bottom=0)
            panel.grid(color="0.92")
        axes[1, column].set_xlabel(axis)
    axes[0, 0].set_ylabel("ms per step")
    axes[1, 0].set_ylabel("peak memory, GiB")
    fixed = ", ".join(f"{v:,} {k}" for k, v in BASE.items())
    figure.suptitle(f"Counter-BC, {rows[0]['device']}; else {fixed}", fontsize=9)
    figure.tight_layout()
    for kind in ("png", "svg"):
        figure.savefig(path.with_suffix(f".{kind}"), dpi=160)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=Path("growth-cpu.json"))
    parser.add_argument("--point", default=None, help="one point, as JSON; used by itself")
    options = parser.parse_args()
    if options.point is not None:
        print(json.dumps(point(json.loads(options.point), options.device)))
        return
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    finished = {(r["axis"], r["value"]) for r in rows}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for axis, values in AXES.items():
        for value in values:
            if (axis, value) in finished:
                continue
            command = [sys.executable, __file__, "--device", options.device]
            command += ["--point", json.dumps(BASE | {axis: value})]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            row = {"axis": axis, "value": value, "device": options.device}
            rows.append(row | json.loads(done.stdout.splitlines()[-1]))
            options.out.write_text(json.dumps(rows, indent=1) + "\n")
            print(rows[-1], flush=True)
    draw(rows, options.out)


if __name__ == "__main__":
    main()
