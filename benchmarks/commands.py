"""Measure the time and memory of each command that looks at demonstrations.

    python benchmarks/commands.py [--pairs 2000] [--json benchmarks/results/commands.json]
    python benchmarks/commands.py --demos pusht_human_206.hdf5 --obs state --commands score \\
        --threads 2 --json benchmarks/results/commands-large.json

Human-like teachers demonstrate Intersection, if no recording is given. Each command runs in a
process of its own with its defaults, so that the numbers include starting Python, compiling or
loading kernels and reading the file. It has one thread, if no more are given, so that processor
seconds hardly depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from counterbc.demonstrators import HUMAN_TEACHERS, demonstrate
from counterbc.formats import load, save

COMMANDS: dict[str, tuple[str, ...]] = {
    "inspect": (),
    "radius": ("--yes",),
    "tune": ("--yes",),
    "score": ("--force", "--yes"),
    "clean": ("--force", "--yes", "--out", "{folder}/cleaned.hdf5"),
    "clean --no-smooth": ("--force", "--yes", "--out", "{folder}/plain.hdf5"),
    "intents": (),
    "influence": ("--force", "--yes"),
    "report": ("--force", "--yes", "--out", "{folder}/report.html"),
}
"""The options of each command beside the file."""
TEACHER = HUMAN_TEACHERS["quick-crowd"]


def measure(
    command: str, file: Path, folder: Path, *, obs: Sequence[str] = (), threads: int = 1
) -> dict[str, Any]:
    """Return wall and processor seconds and the peak memory of one command."""
    options = [option.format(folder=folder) for option in COMMANDS[command]]
    options += [word for key in obs for word in ("--obs", key)]
    name, *flags = command.split()
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "counterbc", name, str(file.absolute()), *flags, *options],
        cwd=folder,  # keeps nothing of a search that was stopped
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": str(threads)},
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    return {
        "command": command,
        "status": process.returncode,
        "wall": round(wall, 1),
        "processor": round(usage.ru_utime + usage.ru_stime, 1),
        "megabytes": round(usage.ru_maxrss / 1024),
        "threads": threads,
    }


def main() -> None:
    """Print what every command costs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--demos", type=Path, default=None, help="a recording, in place of those")
    parser.add_argument("--obs", nargs="+", default=[], help="its observation keys")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, default=None, help="file that keeps the rows")
    options = parser.parse_args()
    out = options.json
    rows = json.loads(out.read_text()) if out is not None and out.exists() else []
    with tempfile.TemporaryDirectory() as folder:
        if (file := options.demos) is None:
            file = Path(folder) / "demos.hdf5"
            save(demonstrate("intersection", TEACHER, options.pairs, 0), file)
        demos = load(file, obs=options.obs or None)
        for command in options.commands:
            row = measure(command, file, Path(folder), obs=options.obs, threads=options.threads)
            row |= {"episodes": len(demos), "pairs": demos.pairs}
            row |= {"file": file.name} if options.demos else {}
            if row["status"]:
                raise SystemExit(f"{command} ended with exit status {row['status']}")
            rows = [r for r in rows if r["command"] != command] + [row]
            print(
                f"{command}: {row['processor']} s of a processor, {row['megabytes']} MB",
                flush=True,
            )
            if out is not None:
                out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
