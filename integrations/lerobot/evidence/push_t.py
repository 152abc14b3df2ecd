"""Compute the rows of the study `lerobot`: Push-T through lerobot-train and lerobot-eval.

    python integrations/lerobot/evidence/push_t.py DATA OUT [--workers 2] [--device cuda]

DATA is the file of human demonstrations with the state of agent and block. Every test of a policy
is one row of OUT/rows.json. Stop it at any time: what has a row is not computed again. The study
itself, its data, settings and rule, is `reproduction/studies/lerobot.py`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[3]), str(Path(__file__).parent)]

from push_t_data import dataset_path, write_dataset, write_weights  # noqa: E402

from reproduction.records import Record, Records, write_rows  # noqa: E402
from reproduction.studies.lerobot import SETTINGS, STARTS, Cell, cells  # noqa: E402


def main() -> None:
    """Write the datasets, then compute the rows that are missing."""
    options = read_options()
    for data, variants in SETTINGS.items():
        path = dataset_path(options.out, data)
        write_dataset(options.data, path, data)
        if "weights" in variants:
            write_weights(path, variants["weights"]["radius"])
    if options.only_data:
        return
    started, context = time.monotonic(), multiprocessing.get_context("spawn")
    records = Records(options.out / "rows.json", indent=None, device=options.device)
    with context.Pool(options.workers, prepare) as pool:
        deadline = None if options.seconds is None else started + options.seconds
        compute(pool, list(cells()), records, options, deadline)
    write_rows(records.rows, options.out)


def read_options() -> Any:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, help="time after which the rest is left out")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1, help="trainings at a time")
    parser.add_argument("--only-data", action="store_true", help="write the datasets alone")
    return parser.parse_args()


def prepare() -> None:
    """Let a worker use one thread, and import LeRobot once."""
    import torch

    torch.set_num_threads(1)
    import lerobot_scripts  # noqa: F401


def compute(
    pool: Any, wanted: list[Cell], records: Records, options: Any, deadline: float | None
) -> None:
    """Compute the cells that have no row, and keep each row at once."""
    left = [cell for cell in wanted if not records.has(**asdict(cell))]
    jobs = pool.imap_unordered(measure, [(c, str(options.out), options.device) for c in left])
    for number in range(len(left)):
        try:
            row = jobs.next(None if deadline is None else max(deadline - time.monotonic(), 0.01))
        except multiprocessing.TimeoutError:
            sys.exit(f"the time is over: {len(left) - number} of {len(wanted)} cells are missing")
        records.add(row)
        print({k: v for k, v in row.items() if k != "scores"}, flush=True)


def measure(job: tuple[Cell, str, str]) -> Record:
    """Train a cell and test it; return its row."""
    from lerobot_scripts import evaluate, train, versions

    cell, out, device = job
    folder, started = Path(out) / "runs" / cell.name, time.monotonic()
    checkpoint = train(cell, folder, dataset_path(Path(out), cell.data), device)
    seconds = round(time.monotonic() - started, 1)
    result = evaluate(checkpoint, folder / "eval", cell.first_start, STARTS, device)
    about = {"start": cell.first_start, "seconds": seconds, **versions()}
    return asdict(cell) | result | about


if __name__ == "__main__":
    main()
