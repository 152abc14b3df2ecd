"""Measure how time and memory grow with pairs, members, counterfactuals and action dimensions.

    python benchmarks/growth.py [--device cuda] [--out growth-cpu.json]

Counter-BC is trained on random data of 23 observation dimensions with the default batch size. Every
point is measured in a separate process, because peak memory belongs to a process: resident memory
on a CPU, allocated device memory on a GPU. Seconds per step are medians over blocks of steps.
Finished points stay in the output file. The figure is drawn next to it, with one line through the
points that keep their counterfactuals in memory and one through those that recompute them for each
batch. The slopes of these lines are printed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.settings import Settings
from counterbc.trainer import train

BASE = {"pairs": 10_000, "members": 10, "counterfactuals": 50, "action dimensions": 7}
AXES = {
    "pairs": [100, 1_000, 10_000, 30_000, 70_000, 100_000, 300_000, 1_000_000],
    "members": [1, 3, 10, 30, 70, 100, 200],
    "counterfactuals": [10, 50, 200, 350, 400, 800],
    "action dimensions": [1, 2, 4, 7, 14, 28],
}
WHOLE_BATCH = 2_560  # pairs above which the batch no longer grows


def random_demos(pairs: int, size: int) -> Demonstrations:
    """Return random pairs in episodes of up to 1000."""
    rng = np.random.default_rng(0)
    episodes = []
    for begin in range(0, pairs, 1000):
        length = min(1000, pairs - begin)
        obs = rng.standard_normal((length, 23), dtype=np.float32)
        noise = rng.uniform(-0.5, 0.5, (length, size)).astype(np.float32)
        episodes.append(Episode(obs, 0.5 * np.tanh(obs[:, np.arange(size) % 23]) + noise))
    return Demonstrations(tuple(episodes), action_low=-np.ones(size), action_high=np.ones(size))


def fits_memory(at: dict[str, int]) -> bool:
    """Return whether the counterfactuals of all pairs and members stay in memory."""
    numbers = at["pairs"] * at["members"] * (1 + at["counterfactuals"]) * at["action dimensions"]
    return 4 * numbers <= Settings().memory * 2**30


class Clock:
    """A progress bar that only records when each block of steps ends."""

    def start(self, step: int, total: int, kernel: str) -> None:
        self.at = [(float(step), time.perf_counter())]

    def update(self, step: float, loss: Tensor) -> None:
        self.at.append((step, time.perf_counter()))

    def announce(self, text: str) -> None: ...

    def stop(self) -> None: ...

    @property
    def per_step(self) -> float:
        """Median seconds per step over the blocks after the first, which may compile."""
        blocks = pairwise(self.at[1:])
        return median((t1 - t0) / (last - first) for (first, t0), (last, t1) in blocks)


def point(at: dict[str, int], device: str) -> dict[str, float]:
    """Return the seconds of set-up, the seconds per step, and the peak GiB."""
    demos = random_demos(at["pairs"], at["action dimensions"])
    options: dict[str, Any] = {"seeds": at["members"], "device": device, "radius": 0.4}
    options |= {"counterfactuals": at["counterfactuals"], "feasible": "project"}
    train(demos, "counter-bc", steps=2, progress=False, **options)  # the first call loads libraries
    clock, start_time = Clock(), time.perf_counter()
    steps = 2000 if device == "cuda" else 300 if fits_memory(at) else 50
    train(demos, "counter-bc", steps=steps, progress=clock, **options)
    seconds = time.perf_counter() - start_time
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if device == "cuda":
        memory = torch.cuda.max_memory_allocated() / 2**30
    return {
        "set-up": seconds - steps * clock.per_step, "per step": clock.per_step, "GiB": memory,
    }  # fmt: skip


def lines(rows: list[dict[str, Any]], axis: str, key: str) -> Iterator[tuple[bool, FittedLine]]:
    """Yield a straight line through each kind of points of an axis that has three or more."""
    for keeps in (True, False):
        x, y = [], []
        for row in rows:
            whole = axis != "pairs" or row["value"] >= WHOLE_BATCH
            if row["axis"] == axis and whole and fits_memory(BASE | {axis: row["value"]}) == keeps:
                x.append(float(row["value"]))
                y.append(row[key])
        if len(x) > 2:
            slope, start = np.polyfit(x, y, 1)
            yield (
                keeps,
                FittedLine(slope, start, min(x), max(x), float(np.corrcoef(x, y)[0, 1] ** 2)),
            )


@dataclass(frozen=True)
class FittedLine:
    """A least-squares line over the range of its points."""

    slope: float
    start: float
    first: float
    last: float
    explained: float  # R²


def print_slopes(rows: list[dict[str, Any]]) -> None:
    """Print the slopes of the fitted lines."""
    print("more per unit of           ms per step        MiB       R² of time, memory")
    for axis in AXES:
        joint = zip(lines(rows, axis, "per step"), lines(rows, axis, "GiB"), strict=True)
        for (keeps, time_line), (_, memory_line) in joint:
            name = f"{axis}, {'kept' if keeps else 'computed again'}"
            print(
                f"{name:32}{time_line.slope * 1e3:10.3g}{memory_line.slope * 2**10:12.3g}"
                f"{time_line.explained:12.2f}, {memory_line.explained:.2f}"
            )


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw time and memory against each axis, with the fitted lines."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, len(AXES), figsize=(11, 4.6), sharex="col")
    for column, axis in enumerate(AXES):
        axis_rows = [r for r in rows if r["axis"] == axis]
        for row, (key, factor) in enumerate((("per step", 1e3), ("GiB", 1.0))):
            panel = axes[row, column]
            for keeps, color in ((True, "#D55E00"), (False, "#0072B2")):
                part = [r for r in axis_rows if fits_memory(BASE | {axis: r["value"]}) == keeps]
                x, y = [r["value"] for r in part], [r[key] * factor for r in part]
                label = "kept" if keeps else "computed again"
                panel.plot(x, y, "o", color=color, ms=4, label=label)
            for keeps, line in lines(rows, axis, key):
                along = np.geomspace(line.first, line.last, 50)
                color = "#D55E00" if keeps else "#0072B2"
                panel.plot(along, (line.start + line.slope * along) * factor, color=color, lw=1)
            panel.set_xscale("log")
            if row == 0:
                panel.set_yscale("log")
                panel.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
                panel.yaxis.set_minor_formatter(lambda y, _: "")
            else:
                panel.set_ylim(bottom=0)
            panel.grid(color="0.92")
        axes[1, column].set_xlabel(axis)
    axes[0, 0].legend(title="counterfactuals", fontsize=7, title_fontsize=7)
    axes[0, 0].set_ylabel("ms per step")
    axes[1, 0].set_ylabel("peak memory, GiB")
    base = ", ".join(f"{v:,} {k}" for k, v in BASE.items())
    machine = "two CPU cores" if rows[0]["device"] == "cpu" else "one H200"
    note = "fitted lines are straight, the axes logarithmic"
    figure.suptitle(f"Counter-BC on {machine}; otherwise {base}; {note}", fontsize=9)
    figure.tight_layout()
    for kind in ("png", "svg"):
        figure.savefig(path.with_suffix(f".{kind}"), dpi=160)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=Path("growth-cpu.json"))
    parser.add_argument(
        "--draw", action="store_true", help="only draw the points of the output file"
    )
    parser.add_argument(
        "--point", default=None, help="one point as JSON; the script calls itself with it"
    )
    options = parser.parse_args()
    if options.point is not None:
        print(json.dumps(point(json.loads(options.point), options.device)))
        return
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    finished_cells = {(r["axis"], r["value"]) for r in rows}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for axis, values in AXES.items():
        for value in values:
            if (axis, value) in finished_cells or options.draw:
                continue
            command = [sys.executable, __file__, "--device", options.device]
            command += ["--point", json.dumps(BASE | {axis: value})]
            process = subprocess.run(command, capture_output=True, text=True, check=True)
            row = {"axis": axis, "value": value, "device": options.device}
            rows.append(row | json.loads(process.stdout.splitlines()[-1]))
            options.out.write_text(json.dumps(rows, indent=1) + "\n")
            print(rows[-1], flush=True)
    print_slopes(rows)
    draw(rows, options.out)


if __name__ == "__main__":
    main()
