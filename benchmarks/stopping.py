"""Measure how long commands take to stop after Ctrl-C, and how far the machine slowed them down.

    python -m benchmarks.stopping [--only NAME …] [--json benchmarks/results/stopping.json]

Each command runs without a terminal until it has worked for a moment, or a line of its progress
matches; then it gets the signal of Ctrl-C. The goal is two seconds. A row has the seconds until the
process ended, what the command wrote of itself to the disk, and the load of the machine, other
programs included. A row replaces the one of the same name in the file.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterbc.data.cores import cores
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.training.run import versions

PAIRS = 400
LONG = ("--steps", "20000000")
FIXED = ("--method", "bc", "--lag", "0", "--radius", "0", "--ensemble", "1", "--out", "run")
LOSS = r" [1-9][\d,]* of [\d,]+, loss "
FRAMES = {"frames.hdf5": (400, 96, 96), "large.hdf5": (360, 480, 640)}
"""Number, height and width of the images of a recording."""
Row = dict[str, Any]


class Work(NamedTuple):
    """A command, the line of its output after which it is stopped, and the seconds in between."""

    words: tuple[str, ...]
    line: str = ""  # the first one, a warning about the data before the work
    seconds: float = 1.5


WORK = {
    "train": Work(("train", "demos.hdf5", *FIXED, *LONG)),
    "train, its search": Work(("train", "demos.hdf5", "--seeds", "20", "--out", "run")),
    "tune": Work(("tune", "demos.hdf5")),
    "radius": Work(("radius", "demos.hdf5", *LONG)),
    "compare": Work(("compare", "demos.hdf5", "--env", "none")),
    "score": Work(("score", "demos.hdf5", "--force", *LONG)),
    "clean": Work(("clean", "demos.hdf5", "--force", "--out", "cleaned.hdf5", *LONG)),
    "influence": Work(("influence", "demos.hdf5", "--force", *LONG)),
    "report": Work(("report", "demos.hdf5", "--force", "--out", "report.html", *LONG)),
    "train, images of 96×96": Work(("train", "frames.hdf5", *FIXED, *LONG), LOSS, 0.0),
    "train, images of 480×640": Work(("train", "large.hdf5", *FIXED, "--steps", "300"), LOSS, 0.0),
}


def write_data(name: str, folder: Path) -> None:
    """Write a recording of noisy demonstrations, or of random images."""
    if name not in FRAMES:
        demonstrate("intersection", UniformNoise(0.5), PAIRS, seed=0).save(folder / name)
        return
    rng, (count, *size) = np.random.default_rng(0), FRAMES[name]
    shape = (count // 10, *size, 3)
    episodes = [
        Episode(rng.integers(0, 256, shape, np.uint8), rng.uniform(-1, 1, (shape[0], 2)))
        for _ in range(10)
    ]
    Demonstrations(tuple(episodes), -np.ones(2), np.ones(2)).save(folder / name)


def measure(name: str, folder: Path) -> Row:
    """Stop a command when its line is printed, and return how long that took."""
    work, last = WORK[name], ""
    command = [sys.executable, "-m", "counterbc", *work.words, "--yes"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if re.search(work.line, last := line):
                break
        else:
            raise RuntimeError(f"{' '.join(command)} printed no line to stop at, but {last!r}")
        time.sleep(work.seconds)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        process.stderr.read()
        process.wait()
        seconds = time.monotonic() - start
    if process.returncode != 128 + signal.SIGINT:
        raise RuntimeError(f"{' '.join(command)} was not stopped: exit {process.returncode}")
    written = sum(f.stat().st_size for f in folder.rglob("*.safetensors"))
    return {
        "work": name, "seconds": round(seconds, 2), "megabytes": round(written / 1e6, 1),
        "load": os.getloadavg()[0], "cores": cores(), "versions": versions(),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", nargs="+", choices=WORK, default=list(WORK), metavar="NAME")
    parser.add_argument("--json", type=Path, default=None, help="file that keeps the rows")
    options = parser.parse_args()
    out: Path | None = options.json
    rows: list[Row] = []
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
    if out is not None and out.exists():
        rows = json.loads(out.read_text("utf-8"))
    for name in options.only:
        with tempfile.TemporaryDirectory() as folder:
            write_data(WORK[name].words[1], Path(folder))
            row = measure(name, Path(folder))
        print(
            f"{name}: {row['seconds']} s after Ctrl-C, {row['megabytes']} MB written, load "
            f"{row['load']:.1f}",
            flush=True,
        )
        rows = [r for r in rows if r["work"] != name] + [row]
        if out is not None:
            out.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
