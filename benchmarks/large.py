"""Measure what commands cost on 25,000 and on a million pairs, in this checkout and an older one.

    python benchmarks/large.py [--before CHECKOUT] [--json benchmarks/results/large.json]

Human-like teachers demonstrate Intersection in episodes of 20 pairs, written in every format. Each
command runs in a process of its own with one thread, in both checkouts by turns, so that a slow
moment of the machine affects both. Numbers are medians of processor time, starting Python included,
and of peak memory. `git worktree add CHECKOUT COMMIT` makes a checkout. Each row names the commits
that it compares. With `--only before` or `--only now` one side is measured, and rows keep what they
say about the other.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import HUMAN_TEACHERS, demonstrate
from counterbc.formats import save

ROOT = Path(__file__).parents[1]
FILES = {"npz": ".npz", "robomimic": ".hdf5", "lerobot": "", "csv": ".csv"}
CHEAP = ("--radius", "0.4", "--lag", "0", "--steps", "100", "--yes")  # leaves little arithmetic
COMMANDS: dict[str, tuple[str, ...]] = {
    **{f"inspect, {name}": ("inspect", f"{{{name}}}") for name in FILES},
    **{f"convert to {to}": ("convert", "{npz}", f"{{out}}{FILES[to]}", "--to", to)
       for to in ("npz", "robomimic", "lerobot")},
    "train, 100 steps": ("train", "{npz}", "--out", "{out}", "--seeds", "2", "--offsets", "none",
                         *CHEAP),
    "tune, 100 steps": ("tune", "{npz}", "--radius", "0.4", "--steps", "100", "--yes"),
    "score, 100 steps": ("score", "{npz}", "--force", "--rounds", "1", *CHEAP),
    "report, 100 steps": ("report", "{npz}", "--force", "--out", "{out}.html", "--rounds", "1",
                          "--radius", "0.4", "--steps", "100", "--yes"),
    "evaluate": ("evaluate", "{run}", "--env", "intersection"),
}  # fmt: skip
"""What is measured, with the names of datasets and outputs in braces."""
ONCE = ("evaluate",)
"""Commands whose cost does not depend on the number of pairs."""
MEASURE = """
import os, subprocess, sys
null = subprocess.DEVNULL
_, status, u = os.wait4(subprocess.Popen(sys.argv[1:], stdout=null, stderr=null).pid, 0)
print(os.waitstatus_to_exitcode(status), u.ru_utime + u.ru_stime, u.ru_maxrss)
"""
"""A process that starts a command: what it uses itself counts as memory of the command, too."""

Row = dict[str, Any]


def write_csv(demos: Demonstrations, path: Path) -> None:
    """Write the pairs as a table, which the library only reads."""
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["episode", *demos.obs_names, *(f"action.{a}" for a in demos.action_names)])
        for episode in demos.episodes:
            for s, a in zip(episode.obs.tolist(), episode.action.tolist(), strict=True):
                table.writerow([episode.name, *s, *a])


def write_datasets(folder: Path, pairs: int) -> dict[str, Path]:
    """Return the same demonstrations in each format, a few of them, and a training on these."""
    demos = demonstrate("intersection", HUMAN_TEACHERS["quick-crowd"], pairs, 0)
    paths = {name: folder / f"{pairs}-{name}{ending}" for name, ending in FILES.items()}
    for name, path in paths.items():
        if name == "csv":
            write_csv(demos, path)
        else:
            save(demos, path, format=name)
    paths |= {"small": folder / f"{pairs}-small.npz", "run": folder / f"{pairs}-run"}
    save(demos[:20], paths["small"])
    train = ["train", str(paths["small"]), "--out", str(paths["run"]), "--seeds", "10"]
    run(ROOT, [*train, "--offsets", "none", *CHEAP])
    return paths


def compile_kernels(small: Path, checkout: Path) -> None:
    """Compile what the commands of a checkout train with, which is not to be measured."""
    for command in ("train, 100 steps", "score, 100 steps"):
        with tempfile.TemporaryDirectory() as folder:
            run(checkout, arguments(command, {"npz": small, "out": Path(folder) / "out"}))


def arguments(command: str, places: dict[str, Path]) -> list[str]:
    """Return the words of a command."""
    return [word.format(**places) for word in COMMANDS[command]]


def run(checkout: Path, words: list[str]) -> dict[str, float]:
    """Return the processor seconds and the peak memory of a command of a checkout."""
    result = subprocess.run(
        [sys.executable, "-S", "-c", MEASURE, sys.executable, "-m", "counterbc", *words],
        stdout=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(checkout / "src")},
        check=True,
    )
    code, seconds, kilobytes = map(float, result.stdout.split())
    if code not in (0, 3):
        raise SystemExit(f"exit status {code:g}: counterbc {' '.join(words)}")
    return {"processor": seconds, "megabytes": kilobytes / 1000}


def measure(command: str, paths: dict[str, Path], checkouts: dict[str, Path], rounds: int) -> Row:
    """Return the medians of one command in each checkout."""
    results: dict[str, list[dict[str, float]]] = {name: [] for name in checkouts}
    for _ in range(rounds):
        for name, checkout in checkouts.items():
            with tempfile.TemporaryDirectory() as folder:
                places = paths | {"out": Path(folder) / "out"}
                results[name].append(run(checkout, arguments(command, places)))
    row: Row = {}
    for name, values in results.items():
        row[name] = round(statistics.median(v["processor"] for v in values), 2)
        row[f"{name}, megabytes"] = round(statistics.median(v["megabytes"] for v in values))
        row[f"{name}, rounds"] = rounds
        row[f"{name}, commit"] = commit(checkouts[name])
    return row


def merged(rows: list[Row], row: Row) -> list[Row]:
    """Return the rows with a new one, which keeps what an older one says about the other side."""
    key = (row["command"], row["pairs"])
    same = [r for r in rows if (r["command"], r["pairs"]) == key]
    kept = {k: v for r in same for k, v in r.items()}
    rest = [r for r in rows if r not in same]
    return sorted(
        [*rest, kept | row], key=lambda r: (r["pairs"], list(COMMANDS).index(r["command"]))
    )


def commit(checkout: Path) -> str:
    """Return the commit of a checkout, shortened; empty if git does not tell."""
    words = ["git", "-C", str(checkout), "rev-parse", "--short=8", "HEAD"]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    return result.stdout.strip()


def main() -> None:
    """Print and store what every command costs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=int, nargs="+", default=[25_000, 1_000_000])
    parser.add_argument("--before", type=Path, default=None, help="an older checkout")
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--rounds", type=int, default=3, help="of 25,000 pairs; others have one")
    parser.add_argument("--data", type=Path, default=None, help="folder that keeps the datasets")
    parser.add_argument("--only", choices=("before", "now"), default=None, help="one side alone")
    parser.add_argument("--json", type=Path, default=None, help="file that keeps the rows")
    options = parser.parse_args()
    checkouts = {"before": options.before} if options.before is not None else {}
    checkouts["now"] = ROOT
    if options.only is not None:
        checkouts = {options.only: checkouts[options.only]}
    out = options.json
    rows = json.loads(out.read_text()) if out is not None and out.exists() else []
    folder = options.data or Path(tempfile.mkdtemp())
    for pairs in options.pairs:
        paths = _datasets(folder, pairs)
        for checkout in checkouts.values():
            compile_kernels(paths["small"], checkout)
        for command in options.commands:
            if command in ONCE and pairs != min(options.pairs):
                continue
            rounds = options.rounds if pairs <= 25_000 else 1
            row: Row = {"command": command, "pairs": pairs}
            row |= measure(command, paths, checkouts, rounds)
            rows = merged(rows, row)
            print(row, flush=True)
            if out is not None:
                out.write_text(json.dumps(rows, indent=1) + "\n")
    if options.data is None:
        shutil.rmtree(folder)


def _datasets(folder: Path, pairs: int) -> dict[str, Path]:
    """Return the datasets of a folder, which are written if it has none."""
    inside = folder / str(pairs)
    if not inside.exists():
        inside.mkdir(parents=True)
        write_datasets(inside, pairs)
    names = {name: inside / f"{pairs}-{name}{ending}" for name, ending in FILES.items()}
    return names | {"run": inside / f"{pairs}-run", "small": inside / f"{pairs}-small.npz"}


if __name__ == "__main__":
    main()
