"""Measure what a newcomer waits for first: importing, the help, and the demo.

    python benchmarks/starting.py [--runs 15] [--json benchmarks/results/starting.json]

Each is a process of its own. `import counterbc` and `counterbc --help` are medians over runs after
one that fills the disk's cache; the demo is one run after a tiny one that compiles. A Python that
imports nothing is measured beside them. The first use of the demo, with an empty cache of native
code, is one run as well. The machine should be idle: each row has the share of the
cores that was not left idle by the system and not used by the process, where there is /proc/stat.
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
from statistics import median
from typing import Any

Row = dict[str, Any]
PYTHON = {
    "a Python that does nothing": ("-c", "pass"),
    "import counterbc": ("-c", "import counterbc"),
    "counterbc --help": ("-m", "counterbc", "--help"),
}
DEMO = ("-m", "counterbc", "demo")
FIRST_USE = "counterbc demo, first use"


def run(
    words: tuple[str, ...], folder: Path, native_code: Path | None = None
) -> tuple[float, float, float]:
    """Return wall and processor seconds of a process, and the share of the cores others used.

    Native code is compiled into the folder `native_code`, or stored where it usually is.
    """
    cache = {} if native_code is None else {"NUMBA_CACHE_DIR": str(native_code)}
    start, before = time.perf_counter(), system_seconds()
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | cache,
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall, cpu = time.perf_counter() - start, usage.ru_utime + usage.ru_stime
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit status {process.returncode}: {' '.join(words)}")
    others_share = (system_seconds() - before - cpu) / (wall * (os.cpu_count() or 1))
    return wall, cpu, max(0.0, others_share)


def system_seconds() -> float:
    """Return the processor seconds of all programs so far, or 0 where the system does not say."""
    file = Path("/proc/stat")
    if not file.exists():
        return 0.0
    user, nice, system, _idle, _iowait, *interrupts = map(int, file.read_text().split()[1:9])
    return float((user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK"))


def row(label: str, runs: list[tuple[float, float, float]]) -> Row:
    """Return the medians of runs, and the least wall time."""
    wall, cpu, others_share = zip(*runs, strict=True)
    names = {"wall": median(wall), "least wall": min(wall), "processor": median(cpu)}
    times = {name: round(value, 3) for name, value in names.items()}
    return (
        {"what": label, "runs": len(runs)}
        | times
        | {"other programs": round(median(others_share), 2)}
    )


def measure(runs: int, folder: Path, *, demo: bool) -> list[Row]:
    """Return the rows of everything."""
    rows = []
    for label, words in PYTHON.items():
        run(words, folder)
        rows.append(row(label, [run(words, folder) for _ in range(runs)]))
        print(rows[-1], flush=True)
    if demo:
        small = ("--seeds", "2", "--steps", "20", "--out", str(folder / "small"))
        run((*DEMO, *small), folder)
        for label, cache in (("counterbc demo", None), (FIRST_USE, folder / "native")):
            words = (*DEMO, "--out", str(folder / label))
            rows.append(row(label, [run(words, folder, cache)]))
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Print and store all rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--no-demo", dest="demo", action="store_false", help="leave the demo out")
    parser.add_argument("--json", type=Path, default=None, help="file that keeps the rows")
    options = parser.parse_args()
    facts: Row = {"cores": os.cpu_count(), "load before": round(os.getloadavg()[0], 2)}
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(options.runs, Path(folder), demo=options.demo)
    if options.json is not None:
        options.json.write_text(json.dumps(facts | {"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
