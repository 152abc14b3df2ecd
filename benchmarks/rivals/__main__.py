"""Train the same small policies with this library and with others, side by side in one run.

    python -m benchmarks.rivals [--json benchmarks/results/rivals.json] [--only counterbc JAX]

Rivals with pins of their own get environments of their own, made once by pip in folders that git
ignores. Each method of a rival is a process that sleeps until it is asked. First it is prepared:
imports, compiling and the first block of steps. This is the median of three processes, of which
the last one stays. Each has an empty cache of compiled code; ours is prepared with an empty cache,
its first use, and again with what that has compiled. Then, in each round, every rival takes one
block of steps of every method that it has, and the result is the median over rounds of wall and
processor time per model and step. Rounds end early when the time is over. Where a rival computes
the same numbers, its losses after 20 steps on the same batches must agree with those of this
library.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rivals.environments import python_of, versions
from benchmarks.rivals.ours import make_problem
from benchmarks.rivals.problem import METHODS
from benchmarks.rivals.process import RivalProcess

OURS = "counterbc"
WORKERS = {
    OURS: ("ours", "ours"),
    "loop in the authors' style": ("ours", "torch_loops"),
    "PyTorch, one model": ("ours", "torch_loops"),
    "PyTorch, stacked": ("ours", "torch_loops"),
    "torch.compile, stacked": ("ours", "torch_loops"),
    "JAX, jit(vmap)": ("jax", "jax_loops"),
    "JAX, jit(lax.map)": ("jax", "jax_loops"),
    "imitation": ("imitation", "imitation_loop"),
    "robomimic": ("robomimic", "robomimic_loop"),
}
"""The environment of each rival, and the module that trains there."""
HAS = {"imitation": ("bc",), "robomimic": ("bc", "bc-rnn")}
"""The methods of rivals that do not have all of them."""
TOLERANCE = 2e-3
"""Relative difference of losses after 20 steps, by rounding alone; other mathematics gives more."""
LEAST_ROUNDS = 3


class Contest:
    """All rivals, their rows of results, and the processes that serve them."""

    def __init__(self, problem: Path, cache: Path, *, steps: int, repeats: int) -> None:
        self.problem, self.cache = problem, cache
        self.steps, self.repeats = steps, repeats
        self.processes: dict[tuple[str, str], RivalProcess] = {}
        self.rows: list[dict[str, Any]] = []

    def prepare(self, rival: str, method: str) -> None:
        """Prepare one method of a rival a few times, and keep the last process and its losses."""
        row: dict[str, Any] = {"rival": rival, "method": method}
        name = f"{rival}: {method}"
        firsts, answers = [], []
        for number in range(self.repeats):
            if (rival, method) in self.processes:
                self.processes[rival, method].close()
            if rival == OURS:  # fills the cache, as on a machine that has compiled nothing yet
                process = self._start(rival, method, number)
                firsts.append(process.ask("prepare", name, self.steps))
                process.close()
            self.processes[rival, method] = self._start(rival, method, number)
            answers.append(self.processes[rival, method].ask("prepare", name, self.steps))
        if firsts:
            row["first use"] = median_times(firsts)
        row["prepare"] = median_times(answers)
        row |= {k: answers[-1][k] for k in ("models", "kernel", "error") if answers[-1].get(k)}
        if "error" not in row:
            row |= {"wall": [], "cpu": []}
            row["losses"] = self.processes[rival, method].ask("losses", name).get("losses")
        self.rows.append(row)
        print(f"{name}: {row.get('error') or row['prepare']}", flush=True)

    def _start(self, rival: str, method: str, number: int) -> RivalProcess:
        environment, module = WORKERS[rival]
        name = re.sub(
            r"\W+", "-", f"{rival} {method} {number}"
        )  # compilers split paths with spaces
        cache = self.cache / name  # without what another one has compiled
        return RivalProcess(python_of(environment), module, self.problem, cache)

    def play(self) -> None:
        """Let every rival take one block of steps of each of its methods."""
        for row in self.rows:
            if "error" in row:
                continue
            name = f"{row['rival']}: {row['method']}"
            answer = self.processes[row["rival"], row["method"]].ask("run", name, self.steps)
            if "error" in answer:
                row["error"] = answer["error"]
                continue
            for clock in ("wall", "cpu"):
                row[clock].append(1e6 * answer[clock] / self.steps / row["models"])

    def close(self) -> None:
        """End all processes."""
        for process in self.processes.values():
            process.close()


def median_times(answers: list[dict[str, Any]]) -> dict[str, float]:
    """Return the medians of wall and processor seconds of the answers that have them."""
    times = {clock: [a[clock] for a in answers if clock in a] for clock in ("wall", "cpu")}
    return {clock: round(float(np.median(t)), 3) for clock, t in times.items() if t}


def check_losses(rows: list[dict[str, Any]]) -> list[str]:
    """Move the losses of all rows into differences from ours, and return the rows that disagree."""
    ours = {r["method"]: r.get("losses") for r in rows if r["rival"] == OURS}
    wrong = []
    for row in rows:
        losses = row.pop("losses", None)
        reference = ours.get(row["method"])
        if losses is None or reference is None:
            continue
        theirs, expected = np.array(losses), np.array(reference)[: len(losses)]
        difference = float(np.abs(theirs - expected).max() / np.abs(expected).max())
        row["difference of losses"] = float(f"{difference:.2g}")
        if not difference < TOLERANCE:
            wrong.append(f"{row['rival']}: {row['method']} differs by {difference:.2g}")
    return wrong


def summarize(rows: list[dict[str, Any]]) -> None:
    """Replace the times of all rounds by their median and quartiles."""
    for row in rows:
        for clock in ("wall", "cpu"):
            if row.get(clock):
                quartiles = np.percentile(row[clock], [50, 25, 75])
                row[f"{clock} µs"] = [float(f"{v:.4g}") for v in quartiles]
            row.pop(clock, None)


def machine() -> dict[str, Any]:
    """Return what the machine is, and its load before the run."""
    info = Path("/proc/cpuinfo")
    names = [x for x in info.read_text().splitlines() if "model name" in x] if info.exists() else []
    name = names[0].partition(":")[2].strip() if names else platform.processor()
    cores = len(os.sched_getaffinity(0))
    return {"cpu": name, "cores": cores, "load before": round(os.getloadavg()[0], 2)}


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Print the medians, one line for each rival and method."""
    print("µs per model and step         method        wall       cpu   prepare, s")
    for row in rows:
        if "wall µs" in row:
            wall, cpu = row["wall µs"][0], row["cpu µs"][0]
            seconds = row["prepare"]["wall"]
            print(f"{row['rival']:30}{row['method']:12}{wall:8.4g}{cpu:10.4g}{seconds:10.1f}")
        else:
            print(f"{row['rival']:30}{row['method']:12}{row.get('error')}")


def main() -> int:
    """Run the contest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--members", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("--steps", type=int, default=100, help="steps of a turn: whole epochs")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--repeats", type=int, default=3, help="how often each is prepared")
    parser.add_argument("--minutes", type=float, default=6.0, help="after these, rounds end")
    parser.add_argument("--only", nargs="+", default=[""], help="rivals whose names begin so")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--json", type=Path, default=None, help="write the rows to this file")
    options = parser.parse_args()
    if options.steps * options.batch % options.pairs:
        parser.error("--steps must be whole epochs: a multiple of pairs / batch")
    rivals = [r for r in WORKERS if r.startswith(tuple(options.only))]
    environments = list(dict.fromkeys(("ours", *(WORKERS[rival][0] for rival in rivals))))
    for environment in environments:
        python_of(environment)
    facts: dict[str, Any] = {"machine": machine()}
    facts |= {k: getattr(options, k) for k in ("members", "pairs", "batch", "steps", "repeats")}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_problem(options.members, options.pairs, options.batch).save(folder / "problem.npz")
        contest = Contest(
            folder / "problem.npz", folder / "cache", steps=options.steps, repeats=options.repeats
        )
        try:
            for rival in rivals:
                for method in options.methods:
                    if method in HAS.get(rival, METHODS):
                        contest.prepare(rival, method)
            wrong, rounds = check_losses(contest.rows), 0
            end = time.monotonic() + 60 * options.minutes
            while rounds < options.rounds and (rounds < LEAST_ROUNDS or time.monotonic() < end):
                contest.play()
                rounds += 1
        finally:
            contest.close()
    summarize(contest.rows)
    print_rows(contest.rows)
    facts |= {"rounds": rounds, "versions": {e: versions(e) for e in environments}}
    if options.json is not None:
        text = json.dumps(facts | {"rows": contest.rows}, indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")
    for sentence in wrong:
        print(f"{sentence}, more than {TOLERANCE:g}: it does not compute the same training")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
