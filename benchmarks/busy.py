"""Measure trainings, or commands that train nothing, on an idle and on a busy machine, by turns.

    python -m benchmarks.busy [--rounds 9] [--seconds 1] [--json benchmarks/results/busy.json]
    python -m benchmarks.busy --commands inspect [--rounds 3] \\
        [--json benchmarks/results/busy-commands.json]

A busy machine has a competing process on every core. In a warm process, populations of 50 members
are trained by each method's native step and by torch. All turns of a training take the same number
of steps. A command runs in a new process, with one thread of OpenBLAS, the default, and with one
for each core, which is what OpenBLAS takes if it is not limited.

The idle and the busy turn of a training follow each other, so that a slow moment of the machine
affects both; a ratio is the median over rounds. Each turn also measures which share of the cores
the rest of the machine used, where the system has /proc/stat.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.step import PAIRS, Steps, population  # imports counterbc before torch

# isort: split
import numpy as np
import torch

from counterbc.data.cores import cores
from counterbc.demonstrators import HUMAN_TEACHERS, demonstrate
from counterbc.errors import InfeasibleActions
from counterbc.formats import save
from counterbc.methods import METHODS as OUR_METHODS

METHODS = ("bc", "counter-bc", "weighted-bc", "ileed", "bcnd", "bc-rnn")
KERNELS = ("numba", "torch")
MEMBERS, BATCH = 50, 40
BLOCK = {"numba": 100, "torch": 20}
"""Steps at a time: as a training of 10,000 steps takes them; for torch each is for itself."""
SPIN = "import os; print(flush=True)\nwhile os.getppid() == {parent}: pass"

COMMANDS = ("inspect",)
COMMAND_PAIRS = 2000

Row = dict[str, Any]


class Turn(NamedTuple):
    """Something that is timed, idle and busy, and what it is."""

    facts: Row
    run: Callable[[], float]
    """Does the work once, and returns its processor seconds."""


@contextmanager
def competitors(count: int) -> Iterator[list[int]]:
    """Let this number of processes compete for the cores, and yield their numbers."""
    code = SPIN.format(parent=os.getpid())  # they end with this process
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(count)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()  # it spins
    try:
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def take_blocks(steps: Steps, block: int, count: int) -> float:
    """Take blocks of steps, and return their processor seconds."""
    start = time.process_time()
    for _ in range(count):
        steps(block)
    return time.process_time() - start


def training_turns(methods: list[str], seconds: float) -> Iterator[Turn]:
    """Yield the warm training of each method by each kernel.

    Turns on an idle machine take these seconds, and one block of steps at least.
    """
    for method in methods:
        for kernel in KERNELS:
            steps = population(method, MEMBERS, BATCH, kernel)
            take = partial(take_blocks, steps, BLOCK[kernel])
            take(1)  # compiles, and fills caches
            block_seconds = statistics.median(take(1) for _ in range(5)) / torch.get_num_threads()
            count = max(1, round(seconds / block_seconds))
            networks = MEMBERS * OUR_METHODS[method].shards
            facts = {"method": method, "kernel": kernel, "networks": networks}
            yield Turn(facts | {"steps": count * BLOCK[kernel]}, partial(take, count))


def command_turns(commands: Sequence[str], file: Path) -> Iterator[Turn]:
    """Yield each command on a recording, with one thread of OpenBLAS and with one per core."""
    save(demonstrate("intersection", HUMAN_TEACHERS["quick-crowd"], COMMAND_PAIRS, 0), file)
    for command in commands:
        for threads in (1, cores()):
            facts = {"command": command, "pairs": COMMAND_PAIRS, "threads of OpenBLAS": threads}
            yield Turn(facts, partial(run_command, command, file, threads))


def run_command(command: str, file: Path, threads: int) -> float:
    """Run a command in a new process, and return its processor seconds."""
    process = subprocess.Popen(
        [sys.executable, "-m", "counterbc", command, str(file)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"OPENBLAS_NUM_THREADS": str(threads)},
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with exit status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def measure(turns: list[Turn], rounds: int) -> list[Row]:
    """Return the medians over rounds of all turns, idle and busy."""
    times: list[dict[str, list[float]]] = [{} for _ in turns]
    for round_ in range(rounds):
        for turn, seconds in zip(turns, times, strict=True):
            for name, count in (("idle", 0), ("busy", cores())):
                with competitors(count) as spinning:
                    wall, cpu, others_share = time_turn(turn.run, spinning)
                seconds.setdefault(name, []).append(wall)
                seconds.setdefault(f"{name}, processor", []).append(cpu)
                seconds.setdefault(f"{name}, other programs", []).append(others_share)
                facts = f"{turn.facts} {wall:.2f} s, others {others_share:.0%}"
                print(f"round {round_ + 1}, {name}: {facts}", flush=True)
    return [
        turn.facts
        | {name: round(statistics.median(values), 3) for name, values in seconds.items()}
        | {"ratios": ratios(seconds["busy"], seconds["idle"])}
        for turn, seconds in zip(turns, times, strict=True)
    ]


def time_turn(run: Callable[[], float], spinning: list[int]) -> tuple[float, float, float]:
    """Return wall and processor seconds, and the share of the cores that the rest used."""
    start, before = time.perf_counter(), rest_seconds(spinning)
    cpu = run()
    wall = time.perf_counter() - start
    others_share = (rest_seconds(spinning) - before - cpu) / (wall * cores())
    return wall, cpu, max(0.0, others_share)


def rest_seconds(spinning: list[int]) -> float:
    """Return the processor seconds so far of all programs but these, or 0 without /proc."""
    if not Path("/proc/stat").exists():
        return 0.0
    user, nice, system, _idle, _iowait, *interrupts = _numbers(Path("/proc/stat"), "cpu")[:8]
    by_spinning = [sum(_numbers(Path(f"/proc/{pid}/stat"), ")")[11:13]) for pid in spinning]
    ticks: int = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + sum(interrupts) - sum(by_spinning)) / ticks


def _numbers(file: Path, after: str) -> list[int]:
    """Return the numbers of a file's first line after a text; letters count as 0."""
    words = file.read_text().split("\n")[0].rpartition(after)[2].split()
    return [int(x) if x.lstrip("-").isdigit() else 0 for x in words]


def ratios(busy: list[float], idle: list[float]) -> list[float]:
    """Return the median and the quartiles over rounds of busy / idle."""
    return [round(float(v), 2) for v in np.percentile(np.divide(busy, idle), [50, 25, 75])]


def main() -> None:
    """Print and store all times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.0, help="of an idle turn")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, help="instead of trainings")
    parser.add_argument("--json", type=Path, default=None, help="file that keeps the rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    facts: Row = {"cores": cores(), "threads": torch.get_num_threads(), "rounds": options.rounds}
    facts |= {"load before": round(os.getloadavg()[0], 2)}
    with tempfile.TemporaryDirectory() as folder:
        if options.commands:
            turns = list(command_turns(options.commands, Path(folder) / "demos.hdf5"))
        else:
            facts |= {"pairs": PAIRS, "batch": BATCH}
            turns = list(training_turns(options.methods, options.seconds))
        print(f"prepared {len(turns)} turns", flush=True)
        rows = measure(turns, options.rounds)
    for row in rows:
        print(row)
    if options.json is not None:
        options.json.write_text(json.dumps(facts | {"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
