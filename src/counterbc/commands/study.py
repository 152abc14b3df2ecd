"""counterbc study"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from rich.console import RenderableType
from tyro.conf import Positional

from counterbc.commands.command import DeviceCommand, Json, plain_table
from counterbc.experiments.ray_cluster import On
from counterbc.printing import sentence, stage

if TYPE_CHECKING:
    from counterbc.experiments.cell import Cell
    from counterbc.experiments.grid import Entry
    from counterbc.experiments.study import Study
    from counterbc.experiments.summary import SummaryLine


@dataclass(frozen=True)
class StudyCommand(DeviceCommand):
    """Compare methods on datasets: train and test every cell of a grid; resumable."""

    grid: Annotated[
        Positional[Path], tyro.conf.arg(help="A TOML or JSON file; see docs/studies.md")
    ]
    out: Path | None = None
    """Folder of results; by default named after the grid file. Finished cells in it are kept."""
    part: str | None = None
    """Compute only part I of N, such as 1/4, for array jobs that share a folder."""
    left: bool = False
    """Only list the cells that are not finished."""
    on: On = "local"
    """This machine, or a Ray cluster."""
    address: str | None = None
    """Address of the Ray cluster; by default RAY_ADDRESS, or a new cluster on this machine."""
    workers: int | None = None
    """Cells computed at a time on this machine; by default one per core, at most 12 on a GPU."""
    mixed: bool = False
    """Accept finished cells of another kind of device or of other versions."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.experiments.grid import read_grid
        from counterbc.experiments.study import Part, Study, stacked_by_default

        part = Part.parse(self.part or "1/1")
        entries = read_grid(self.grid).entries()
        out = self.out or Path(f"{self.grid.stem}-study")
        study = Study([entry.cell for entry in entries], out / "cells")
        part_study = study.part(part, stacked_by_default(self.device))
        if self.left:
            return _list_missing(part_study)
        with stage("checking data and environments"):
            _check(part_study.missing())
        try:
            count = part_study.run(
                self.device, on=self.on, workers=self.workers, address=self.address,
                mixed=self.mixed,
            )  # fmt: skip
        except KeyboardInterrupt:
            rest = len(part_study.missing())
            raise KeyboardInterrupt(
                f"stopped with {rest} cells missing; run the same command again to continue"
            ) from None
        payload: Json = {"folder": str(out), "cells": len(study.cells), "computed": count}
        if rest := len(study.missing()):
            text = f"Part {self.part} is finished; {rest} cells of other parts are missing."
            return payload | {"missing": rest}, [text]
        lines = _write(entries, study, out)
        payload |= {"missing": 0, "summary": [line.as_dict() for line in lines]}
        text = f"\nRows, summary and figure are in {out}/"
        return payload, [*_tables(lines, entries[0].method), text]


def _check(cells: Sequence[Cell]) -> None:
    """Refuse, before any training, cells that cannot be computed; print notes about the others."""
    for cell in cells:
        cell.check()
    for note in dict.fromkeys(cell.note for cell in cells if cell.note):
        print(sentence(note), file=sys.stderr)


def _list_missing(study: Study) -> tuple[Json, list[RenderableType]]:
    names = [cell.name for cell in study.missing()]
    text = f"{len(names)} of {len(study.cells)} cells are missing"
    payload: Json = {"cells": len(study.cells), "missing": len(names), "names": names}
    return payload, [text, *names]


def _write(entries: Sequence[Entry], study: Study, folder: Path) -> list[SummaryLine]:
    """Write rows, summary and figure; return the lines of the summary."""
    from counterbc.experiments.method_figures import summary_figure
    from counterbc.experiments.summary import summarize, write_summary

    lines = summarize(entries, study)
    write_summary(entries, lines, study, folder)
    summary_figure(lines, folder, "study")
    return lines


def _tables(lines: Sequence[SummaryLine], first: str) -> list[RenderableType]:
    """Return one table per dataset, settings and way of acting."""
    from itertools import groupby

    from counterbc.experiments.text import interval_text

    tables: list[RenderableType] = []
    for (data, settings, measure, act), group in groupby(lines, key=lambda line: line.group):
        title = ", ".join(filter(None, (data, settings, f"act={act}")))
        columns = ("method", f"{measure} [95 %]", f"minus {first} [95 %]")
        rows = [
            (
                line.label(line.entry.method),
                interval_text(line.interval),
                "" if line.difference is None else interval_text(line.difference.interval),
            )
            for line in group
        ]
        tables += [f"\n{title}", plain_table(columns, rows)]
    return tables
