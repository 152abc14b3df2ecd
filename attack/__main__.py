"""The entry of the attack.

python -m attack [--part PART …] [--count N] [--full] [--seed S] [--out FOLDER] [--resume]
python -m attack --part mutate --only KEY     repeats one case in this process
python -m attack --table [--out FOLDER]       writes the results on file to SECURITY.md
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import cast

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy and torch are imported
os.environ.setdefault("MPLBACKEND", "agg")

from attack import table
from attack.part import Part
from attack.rows import RowFile

PARTS = ("mutate", "malice", "kills", "disks", "interrupts", "encodings", "numerics")
ROOT = Path(__file__).parents[1]


def load_part(name: str) -> Part:
    """Return a part by its name."""
    return cast(Part, import_module(f"attack.parts.{name}").PART)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(
        prog="python -m attack", description="Attack the library: files, kills, disks, signals."
    )
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS, metavar="PART",
                        help=f"{', '.join(PARTS)}; by default all")  # fmt: skip
    parser.add_argument("--count", type=int, help="cases of each part")
    parser.add_argument("--full", action="store_true", help="as many cases as SECURITY.md reports")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("attack-results"))
    parser.add_argument("--resume", action="store_true", help="keep the rows that are in --out")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", metavar="KEY", help="run one case and print its row")
    parser.add_argument("--table", action="store_true", help="write the table of SECURITY.md")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0, or 1 if a promise did not hold."""
    options = parse(arguments)
    if options.table:
        return write_table(options.out)
    from attack import runner
    from attack.bases import make_bases

    runner.interruptible()
    parts = [load_part(name) for name in options.part]
    options.out.mkdir(parents=True, exist_ok=True)
    if any(part.needs_bases for part in parts):
        runner.in_child(lambda: make_bases(options.out / "bases"))
    runner.warm()
    if options.only:
        return run_one(parts[0], options.only, options.out)
    for part in parts:
        if not options.resume:
            RowFile(options.out, part.name).clear()
        count = options.count or (part.full if options.full else part.quick)
        keys = part.cases(count, options.seed)
        runner.run_part(part, keys, options.out, options.workers)
    return report(options.out, options.part)


def run_one(part: Part, key: str, out: Path) -> int:
    """Run one case in this process and print everything about it."""
    from attack.worker import run_case

    row = run_case(part, key, out)
    for name, value in asdict(row).items():
        print(f"{name}: {value}")
    return int(row.is_finding)


def report(out: Path, names: Sequence[str]) -> int:
    """Print the findings of parts and their table; return 1 if there are findings."""
    parts = {name: rows for name in names if (rows := RowFile(out, name).rows())}
    for name, rows in parts.items():
        print(f"\n{name}: {table.extremes(rows)}\n{table.by_cause(rows)}")
    text = table.summary(parts)
    (out / "table.md").write_text(text + "\n", "utf-8")
    print(f"\n{text}")
    return int(any(row.is_finding for rows in parts.values() for row in rows))


def write_table(out: Path) -> int:
    """Write the results on file to SECURITY.md."""
    parts = {name: rows for name in PARTS if (rows := RowFile(out, name).rows())}
    if not parts:
        print(f"error: {out} has no results; run the attack first", file=sys.stderr)
        return 1
    newest = max(RowFile(out, name).path.stat().st_mtime for name in parts)
    date = datetime.datetime.fromtimestamp(newest, datetime.UTC).date()
    labels = {f"`{name}`: {load_part(name).about}": rows for name, rows in parts.items()}
    table.fill(ROOT / "SECURITY.md", f"{date}\n\n{table.summary(labels)}")
    return 0


if __name__ == "__main__":
    began = time.monotonic()
    try:
        status = main()
    except KeyboardInterrupt:
        print("stopped; --resume continues", file=sys.stderr)
        sys.exit(130)
    print(f"{time.monotonic() - began:.0f} s")
    sys.exit(status)
