"""Records the six synthetic operators of the world `can` in parallel.

About 65,000 steps of 6 ms. The file depends on the simulator's arithmetic alone, not on the number
of processes. A summary with the length of each operator's demonstrations is written beside it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

import counterbc as cb
from counterbc.demonstrators.can_operators import OPERATORS
from counterbc.demonstrators.can_recording import EPISODES, join, perform
from counterbc.files import aside, check_free
from reproduction.options import option
from reproduction.records import computed_with, write

BLOCK = 5  # demonstrations of a job


@dataclass(frozen=True, kw_only=True)
class CanRecordOptions:
    """Record demonstrations of Can's synthetic operators."""

    out: Path = option(Path("can_synthetic_mh_300.hdf5"), "file to write")
    each: int = option(EPISODES, "demonstrations of each operator")
    workers: int | None = option(None, "processes; by default one per core")


def run(options: CanRecordOptions) -> None:
    """Record, write the file and print a summary."""
    check_free(options.out)
    demos = record(options.out, options.each, options.workers)
    demos.save(options.out)
    rows = summary(demos)
    write([row | computed_with("cpu") for row in rows], options.out.with_suffix(".json"))
    print(json.dumps(rows, indent=1))


def record_block(name: str, numbers: range, folder: Path) -> list[Path]:
    """Record these demonstrations of an operator, one file each."""
    files = []
    for number in numbers:
        path = episode_file(folder, name, number)
        if not path.exists():
            episode = perform(name, number)
            with aside(path) as temporary, temporary.open("wb") as file:
                np.savez(file, obs=episode.obs, action=episode.action)
        files.append(path)
    return files


def episode_file(folder: Path, name: str, number: int) -> Path:
    return folder / f"{name}-{number}.npz"


def read_episode(path: Path, name: str) -> cb.Episode:
    """Return the episode in a file of one demonstration."""
    with np.load(path) as file:
        obs, action = file["obs"], file["action"]
    reward = np.zeros(len(action))
    reward[-1] = 1.0  # only successes are kept
    return cb.Episode(obs, action, reward, operator=name, success=True)


def record(out: Path, each: int, workers: int | None) -> cb.Demonstrations:
    """Record all operators; finished demonstrations are kept beside `out`."""
    from counterbc.experiments.workers import run_all

    folder = out.with_suffix(".parts")
    folder.mkdir(parents=True, exist_ok=True)
    blocks = [range(k, min(k + BLOCK, each)) for k in range(0, each, BLOCK)]
    jobs = {f"{o} {b}": partial(record_block, o, b, folder) for b in blocks for o in OPERATORS}
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("demonstrations", total=each * len(OPERATORS))
        run_all(jobs, lambda _, files: bar.advance(task, len(files)), workers, bars=False)
    return join(
        {o: [read_episode(episode_file(folder, o, k), o) for k in range(each)] for o in OPERATORS}
    )


def summary(demos: cb.Demonstrations) -> list[dict[str, Any]]:
    """Return a row per operator, and one for all."""
    rows = []
    for name in (*OPERATORS, "all"):
        lengths = [len(e) for e in demos.episodes if name in (e.operator, "all")]
        row = {"operator": name, "demonstrations": len(lengths), "pairs": sum(lengths)}
        row |= {"mean": round(float(np.mean(lengths)), 1)}
        row |= {"shortest": min(lengths), "longest": max(lengths)}
        rows.append(row)
    return rows
