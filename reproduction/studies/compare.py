"""What `counterbc compare` says about recordings of people and about the Intersection demo.

Each comparison runs in a process of its own with one thread, and its JSON is kept with what it
cost: processor time and memory, which hardly depend on what else the machine does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterbc.errors import OptionError
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.records import Record, read, write

FILES = {
    "Push-T, mouse": "pusht_human_206.hdf5",
    "Push-T, another goal": "pusht_other_goal_151.hdf5",
    "Adroit door, glove": "adroit_door_human_25.hdf5",
}
DEMO = "Intersection, uniform 0.5"
DEMONSTRATE = "demonstrate intersection --noise uniform --sigma 0.5 --pairs 400 --out"


@dataclass(frozen=True, kw_only=True)
class CompareOptions(StudyOptions):
    """Compare methods on recordings of people and on the Intersection demo."""

    data: Path | None = option(None, "folder with the recordings; without it, only the demo")
    extra: tuple[str, ...] = option((), "further options of counterbc compare")


def run(options: CompareOptions) -> None:
    """Compare on every dataset that has no result yet."""
    path = options.numbers("compare")
    rows: dict[str, Record] = read(path) if path.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder) / "demos.hdf5"
        _counterbc(*DEMONSTRATE.split(), str(demo))
        files = {name: options.data / file for name, file in FILES.items() if options.data}
        for name, file in (files | {DEMO: demo}).items():
            if name not in rows:
                words = ("compare", str(file), *options.extra, "--yes", "--json")
                rows[name] = record(*_counterbc(*words))
                write(rows, path)
    print(table(rows))


def record(output: str, seconds: float, mebibytes: float) -> Record:
    """Return what is kept of a comparison: its errors, returns, verdicts and cost."""
    payload = json.loads(output)
    names = ("methods", "explained", "lag", "networks", "protocol", "verdicts", "returns")
    kept: Record = {name: payload[name] for name in names}
    return kept | {"cpu_seconds": round(seconds, 1), "mebibytes": round(mebibytes)}


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of docs/compare.md."""
    return {"compare": {"recordings": table(read(results / "compare" / "numbers.json"))}}


def table(rows: dict[str, Record]) -> str:
    """Return one line per dataset: how far below BC's error each method is, verdict and cost."""
    names = [m["name"] for m in next(iter(rows.values()))["methods"]][1:]
    header = ["data", *(f"{n}: error below BC's" for n in names), "use", "CPU time", "memory"]
    lines = []
    for name, row in rows.items():
        unit = 100 / row["methods"][0]["error"]["value"]
        below = [_percent(unit, m) for m in row["methods"][1:]]
        use = row["verdicts"][-1].rpartition("use ")[2] or row["verdicts"][-1].split(":")[0]
        cost = f"{row['cpu_seconds'] / 60:.1f} min", f"{row['mebibytes'] / 1024:.1f} GiB"
        lines.append([name, *below, use, *cost])
    return markdown_table(header, lines)


def _percent(unit: float, method: dict[str, Any]) -> str:
    value, se = (unit * method["below"][k] for k in ("value", "se"))
    return "0 (Δ 0 is BC)" if not value and not se else f"{value:+.1f} ± {se:.1f} %"


def _counterbc(*words: str) -> tuple[str, float, float]:
    """Run a command; return its output, processor time in seconds and largest memory in MiB."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "counterbc", *words], stdout=output,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise OptionError(f"counterbc {words[0]} failed; run it by itself: {' '.join(words)}")
        output.seek(0)
        return output.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
