"""Records the six synthetic operators of the world can, in parallel; a stopped run goes on.

    python -m reproduction.studies.can_record --out can_synthetic_mh_300.hdf5

About 65,000 steps of some 6 ms. The file is the same wherever it is made, as far as the simulator's
arithmetic is. A summary with the length of each operator's demonstrations is written beside it.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators.can_operators import OPERATORS
from counterbc.demonstrators.can_recording import EPISODES, join, perform
from counterbc.files import aside, check_free

AT_ONCE = 5  # demonstrations of a job


def job(name: str, numbers: range, parts: Path) -> list[Path]:
    """Record these demonstrations of an operator, one file each."""
    written = []
    for number in numbers:
        path = part(parts, name, number)
        if not path.exists():
            episode = perform(name, number)
            with aside(path) as temporary, temporary.open("wb") as file:
                np.savez(file, obs=episode.obs, action=episode.action)
        written.append(path)
    return written


def part(parts: Path, name: str, number: int) -> Path:
    return parts / f"{name}-{number}.npz"


def read(path: Path, name: str) -> Episode:
    with np.load(path) as file:
        obs, action = file["obs"], file["action"]
    reward = np.zeros(len(action))
    reward[-1] = 1.0  # only successes are kept
    return Episode(obs, action, reward, operator=name, success=True)


def record(out: Path, each: int, workers: int | None) -> Demonstrations:
    """All operators; what is finished lies beside `out` until all is."""
    from counterbc.experiments.workers import run_all

    parts = out.with_suffix(".parts")
    parts.mkdir(exist_ok=True)
    blocks = [range(k, min(k + AT_ONCE, each)) for k in range(0, each, AT_ONCE)]
    jobs = {f"{o} {b}": partial(job, o, b, parts) for b in blocks for o in OPERATORS}
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("demonstrations", total=each * len(OPERATORS))
        run_all(jobs, lambda _, files: bar.advance(task, len(files)), workers, bars=False)
    return join({o: [read(part(parts, o, k), o) for k in range(each)] for o in OPERATORS})


def summary(demos: Demonstrations) -> list[dict[str, Any]]:
    """A row per operator, and one for all."""
    rows = []
    for name in (*OPERATORS, "all"):
        own = [len(e) for e in demos.episodes if name in (e.operator, "all")]
        row = {"operator": name, "demonstrations": len(own), "pairs": sum(own)}
        row |= {"mean": round(float(np.mean(own)), 1), "shortest": min(own), "longest": max(own)}
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=Path("can_synthetic_mh_300.hdf5"))
    parser.add_argument("--each", type=int, default=EPISODES)
    parser.add_argument("--workers", type=int)
    options = parser.parse_args()
    check_free(options.out)
    demos = record(options.out, options.each, options.workers)
    demos.save(options.out)
    text = json.dumps(summary(demos), indent=1)
    options.out.with_suffix(".json").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
