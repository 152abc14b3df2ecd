"""Measure the first commands of a newcomer on an idle machine and on a busy one, by turns.

    python -m benchmarks.first_commands [--rounds 3] [--json benchmarks/results/first-commands.json]

A busy machine has a competing process on every core. Each command is a process of its own with the
threads that it takes by itself; native code is compiled before. A ratio is the median over rounds
of a busy turn and the idle one before it.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.busy import competitors  # imports counterbc before torch
from benchmarks.starting import DEMO, run

# isort: split
from counterbc.data.cores import cores
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.formats import save

PAIRS = 400
TRAIN = ("train", "demos.npz", "--method", "weighted-bc", "--seeds", "2", "--steps", "1000")
COMMANDS = {
    "train --method weighted-bc --seeds 2 --steps 1000": ("-m", "counterbc", *TRAIN),
    "demo": DEMO,
}

Row = dict[str, Any]


def measure(name: str, rounds: int, folder: Path) -> Row:
    """Return the medians of a command's wall and processor seconds, idle and busy."""
    seconds: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        for kind, count in (("idle", 0), ("busy", cores())):
            with competitors(count):
                out = folder / f"{name.split()[0]}-{kind}-{number}"
                wall, cpu, others_share = run((*COMMANDS[name], "--out", str(out)), folder)
            print(f"{name}: {kind} {wall:.2f} s, processor {cpu:.2f} s", flush=True)
            if number == 0:  # compiles
                break
            seconds.setdefault(kind, []).append(wall)
            seconds.setdefault(f"{kind}, processor", []).append(cpu)
            if not count:  # of a busy turn it would have the competitors
                seconds.setdefault("other programs", []).append(others_share)
    row: Row = {kind: round(median(values), 2) for kind, values in seconds.items()}
    ratios = [b / i for b, i in zip(seconds["busy"], seconds["idle"], strict=True)]
    return {"what": name, "rounds": rounds} | row | {"ratio": round(median(ratios), 2)}


def main() -> None:
    """Print and store all rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--json", type=Path, default=None, help="file that keeps the rows")
    options = parser.parse_args()
    result: Row = {"cores": cores(), "load before": round(os.getloadavg()[0], 2), "rows": []}
    with tempfile.TemporaryDirectory() as name:
        save(demonstrate("intersection", UniformNoise(0.5), PAIRS, 0), Path(name) / "demos.npz")
        for command in options.commands:
            result["rows"].append(measure(command, options.rounds, Path(name)))
            if options.json is not None:
                options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
