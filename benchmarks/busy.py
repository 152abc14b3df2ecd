"""Measure trainings on an idle and on a busy machine, by turns.

    python benchmarks/busy.py [--rounds 3] [--json benchmarks/results/busy.json]

A busy machine has a competing process on every core, so that a training gets half of each and takes
twice as long if it loses nothing by waiting. Each training is a command in a process of its own,
starting Python included: each method with its native step and with torch. Kernels are compiled
before. The machine must be idle otherwise; the load before the run is in the results.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from counterbc.data.cores import cores
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.formats import save

METHODS = ("bc", "counter-bc", "weighted-bc", "bcnd", "bc-rnn")
SEEDS, STEPS = 10, 500
CHEAP = ("--radius", "0.4", "--lag", "0", "--offsets", "none", "--yes")  # nothing is searched for


def trainings() -> list[dict[str, Any]]:
    """Return method, kernel, seeds and steps of every training."""
    rows = [
        {"method": method, "kernel": kernel, "seeds": SEEDS, "steps": STEPS}
        for method in METHODS for kernel in ("auto", "torch")
    ]  # fmt: skip
    small = {"method": "weighted-bc", "seeds": 2, "steps": 1000}
    return [*rows, *(small | {"kernel": kernel} for kernel in ("auto", "torch"))]


def spin(parent: int) -> None:
    """Keep a core busy until this process is ended, or the one that started it is gone."""
    while os.getppid() == parent:
        pass


@contextmanager
def competitors(count: int) -> Iterator[None]:
    """Let this number of processes compete for the cores."""
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=spin, args=(os.getpid(),), daemon=True) for _ in range(count)
    ]
    for process in processes:
        process.start()
    time.sleep(1.0 if count else 0.0)  # until they have started
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def train(row: dict[str, Any], file: Path) -> tuple[float, float]:
    """Return wall and processor seconds of a training."""
    words = [word for name, value in row.items() for word in (f"--{name}", str(value))]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "counterbc", "train", str(file), *words, *CHEAP]
        start = time.perf_counter()
        process = subprocess.Popen(
            [*command, "--out", f"{folder}/run"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    if code := os.waitstatus_to_exitcode(status):
        raise SystemExit(f"exit status {code}: {' '.join(command)}")
    return wall, usage.ru_utime + usage.ru_stime


def measure(rows: list[dict[str, Any]], file: Path, rounds: int) -> list[dict[str, Any]]:
    """Return the medians over rounds of all trainings, idle and busy."""
    times: list[dict[str, list[float]]] = [{} for _ in rows]
    for round_ in range(rounds):
        for name, count in (("idle", 0), ("busy", cores())):
            with competitors(count):
                for row, seconds in zip(rows, times, strict=True):
                    wall, cpu = train(row, file)
                    seconds.setdefault(name, []).append(wall)
                    seconds.setdefault(f"{name}, processor", []).append(cpu)
                    print(f"round {round_ + 1}, {name}: {row} {wall:.1f} s", flush=True)
    return [
        row
        | {name: round(statistics.median(values), 2) for name, values in seconds.items()}
        | {"ratio": round(ratio(seconds["busy"], seconds["idle"]), 2)}
        for row, seconds in zip(rows, times, strict=True)
    ]


def ratio(busy: list[float], idle: list[float]) -> float:
    """Return the median over rounds of busy / idle."""
    return statistics.median(b / i for b, i in zip(busy, idle, strict=True))


def main() -> None:
    """Print and store all times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--json", type=Path, default=None, help="file that keeps the rows")
    options = parser.parse_args()
    facts = {"cores": cores(), "load before": round(os.getloadavg()[0], 2)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "demos.npz"
        save(demonstrate("intersection", UniformNoise(0.5), options.pairs, 0), file)
        rows = [row for row in trainings() if row["method"] in options.methods]
        for row in rows:
            train(row | {"steps": 1}, file)  # compiles
        rows = measure(rows, file, options.rounds)
    for row in rows:
        print(row)
    if options.json is not None:
        result = facts | {"rounds": options.rounds, "pairs": options.pairs, "rows": rows}
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
