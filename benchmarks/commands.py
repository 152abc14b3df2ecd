"""Measure the time and memory of each command that looks at demonstrations.

    python benchmarks/commands.py [--pairs 2000] [--json benchmarks/results/commands.json]

Human-like teachers demonstrate Intersection. Each command runs in a process of its own with its
defaults, so that the numbers include starting Python, compiling or loading kernels and reading the
file. It has one thread, so that processor seconds hardly depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from counterbc.demonstrators import HUMAN_TEACHERS, demonstrate
from counterbc.formats import save

COMMANDS: dict[str, tuple[str, ...]] = {
    "inspect": (),
    "radius": (),
    "tune": (),
    "score": ("--force",),
    "clean": ("--force", "--out", "{folder}/cleaned.hdf5"),
    "clean --no-smooth": ("--force", "--out", "{folder}/plain.hdf5"),
    "intents": (),
    "influence": ("--force",),
    "report": ("--force", "--out", "{folder}/report.html"),
}
"""The options of each command beside the file."""


def measure(command: str, file: Path, folder: Path) -> dict[str, Any]:
    """Return wall and processor seconds and the peak memory of one command."""
    options = [option.format(folder=folder) for option in COMMANDS[command]]
    name, *flags = command.split()
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "counterbc", name, str(file), *flags, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    return {
        "command": command,
        "status": os.waitstatus_to_exitcode(status),
        "wall": round(wall, 1),
        "processor": round(usage.ru_utime + usage.ru_stime, 1),
        "megabytes": round(usage.ru_maxrss / 1024),
    }


def main() -> None:
    """Print what every command costs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--json", type=Path, default=None, help="file that keeps the rows")
    options = parser.parse_args()
    out = options.json
    rows = json.loads(out.read_text()) if out is not None and out.exists() else []
    with tempfile.TemporaryDirectory() as folder:
        demos = demonstrate("intersection", HUMAN_TEACHERS["quick-crowd"], options.pairs, 0)
        file = Path(folder) / "demos.hdf5"
        save(demos, file)
        for command in options.commands:
            row = measure(command, file, Path(folder))
            row |= {"episodes": len(demos), "pairs": demos.pairs}
            rows = [r for r in rows if r["command"] != command] + [row]
            print(
                f"{command}: {row['processor']} s of a processor, {row['megabytes']} MB, exit "
                f"status {row['status']}",
                flush=True,
            )
            if out is not None:
                out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
