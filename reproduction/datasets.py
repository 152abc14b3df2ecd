"""Studies that measure many datasets, one job each, side by side."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from counterbc.experiments.cell import reproducible
from counterbc.experiments.workers import run_all
from reproduction.options import StudyOptions, option
from reproduction.records import Record, Records, read_rows, write_rows

Measure = Callable[[Record, str | None], Record]
"""Returns what is measured of a dataset of this kind and seed, on a device."""


@dataclass(frozen=True, kw_only=True)
class DatasetOptions(StudyOptions):
    """Options of studies that measure datasets."""

    seeds: int = option(20, "datasets of each kind")
    first: int = option(0, "number of the first seed")
    device: str | None = None
    workers: int | None = None

    @property
    def seed_range(self) -> range:
        """The seeds of the datasets."""
        return range(self.first, self.first + self.seeds)


def compute_rows(
    study: str, kinds: Iterable[Record], measure: Measure, options: DatasetOptions
) -> list[Record]:
    """Compute the missing rows of a study, each of one kind and seed, and return all of them.

    Where no part of it was computed here, its rows in the repository are the first ones.
    """
    folder = options.out / study
    records = Records(folder / "rows.json", indent=None, device=options.device)
    records.rows = records.rows or read_rows(folder)
    jobs = {
        ", ".join(map(str, kind.values())): partial(_row, measure, kind, options.device)
        for kind in kinds
        if not records.has(**kind)
    }

    def keep(name: str, row: Record) -> None:
        records.add(row)
        print(name, file=sys.stderr, flush=True)

    if jobs:
        run_all(jobs, keep, options.workers, bars=False)
    write_rows(records.rows, folder)
    return records.rows


def _row(measure: Measure, kind: Record, device: str | None) -> Record:
    with reproducible():
        return kind | measure(kind, device)
