"""Measure how right the estimates are that commands print of long work.

    python -m benchmarks.estimates [--rounds 1] [--compete 2] [--json FILE]

Commands of a minute or more run one after the other without a terminal, as they do in a batch job.
Each line with an estimate is compared with the time that the command took from there to its end.
With --compete, this number of processes competes for the cores from the first estimate on, so that
the load changes after it. Each row has the load of the machine, other programs included, its cores
and the versions. Rows are added to those that the file has.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.busy import competitors

# isort: split
import numpy as np

from counterbc.data.cores import cores
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.training.run import versions

WORK = {
    "train, 20 seeds with a search": ("train", "demos.hdf5", "--seeds", "20", "--out", "searched"),
    "train, 50 seeds without a search": (
        "train", "demos.hdf5", "--radius", "0.4", "--seeds", "50", "--steps", "20000",
        "--ensemble", "1", "--lag", "0", "--out", "fixed",
    ),
    "compare": ("compare", "demos.hdf5", "--env", "none"),
    "train on images": (
        "train", "frames.hdf5", "--method", "bc", "--steps", "600", "--ensemble", "1", "--lag", "0",
        "--out", "images",
    ),
}  # fmt: skip
ANNOUNCEMENT = re.compile(r"Estimated time left .*: about ([\d.]+) (second|minute|hour|day)")
SECONDS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}
Row = dict[str, Any]


def write_data(folder: Path) -> None:
    """Write noisy demonstrations, and episodes of random frames with the size of Car Racing's."""
    demonstrate("intersection", UniformNoise(0.5), 400, seed=0).save(folder / "demos.hdf5")
    rng = np.random.default_rng(0)
    episodes = [
        Episode(rng.integers(0, 256, (40, 96, 96, 3), np.uint8), rng.uniform(-1, 1, (40, 2)))
        for _ in range(10)
    ]
    demos = Demonstrations(tuple(episodes), -np.ones(2), np.ones(2))
    demos.save(folder / "frames.hdf5")


def announced_seconds(line: str) -> float | None:
    """Return the seconds that a line announces; None where it announces nothing."""
    match = ANNOUNCEMENT.search(line)
    return None if match is None else float(match[1]) * SECONDS[match[2]]


def measure(work: str, folder: Path, compete: int) -> Row:
    """Run a command, and return its estimates beside the time that it then took."""
    command = [sys.executable, "-m", "counterbc", *WORK[work], "--yes"]
    load, start = os.getloadavg()[0], time.monotonic()
    moments: list[tuple[float, float]] = []
    with ExitStack() as stack:
        process = stack.enter_context(subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ))  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            if (seconds := announced_seconds(line)) is None:
                continue
            if compete and not moments:
                stack.enter_context(competitors(compete))
            moments.append((time.monotonic() - start, seconds))
        status = process.wait()
        whole = time.monotonic() - start
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {status}")
    estimates = [
        {"after": at, "announced": seconds, "actual": whole - at} for at, seconds in moments
    ]
    return {
        "work": work, "seconds": whole, "competitors": compete, "estimates": estimates,
        "load": [load, os.getloadavg()[0]], "cores": cores(), "versions": versions(),
    }  # fmt: skip


def line_of(row: Row) -> str:
    """Return how right the estimates of a command were, in one line."""
    ratios = [f"{e['actual'] / e['announced']:.2f}" for e in row["estimates"]] or ["none printed"]
    loads = " to ".join(f"{load:.1f}" for load in row["load"])
    return f"{row['work']}: {row['seconds']:.0f} s, load {loads}; actual / announced {ratios}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--compete", type=int, default=0, help="processes after the first estimate")
    parser.add_argument("--json", type=Path, default=None, help="file to which rows are added")
    options = parser.parse_args()
    out: Path | None = options.json
    rows: list[Row] = []
    if out is not None and out.exists():
        rows = json.loads(out.read_text("utf-8"))
    for _ in range(options.rounds):
        for work in WORK:
            with tempfile.TemporaryDirectory() as folder:
                write_data(Path(folder))
                rows.append(measure(work, Path(folder), options.compete))
            print(line_of(rows[-1]), flush=True)
            if out is not None:
                out.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
