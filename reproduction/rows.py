"""Rows of a study: one file per cell while it runs, one archive when it is finished.

OUT/rows/CELL.parquet         cells as they are finished; not kept in the repository
OUT/STUDY/rows.parquet        all cells of a study, with device and versions of each
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from counterbc.acting.intervals import mean_interval
from counterbc.experiments.archive import pack, unpack
from counterbc.experiments.cell import Cell
from counterbc.experiments.study import Study
from reproduction.options import StudyOptions

CELLS, ARCHIVE = "rows", "rows.parquet"


@dataclass(frozen=True, kw_only=True)
class CellOptions(StudyOptions):
    """Options of studies that consist of cells."""

    seeds: int = 5
    episodes: int = 50
    steps: int = 10_000
    device: str | None = None
    workers: int | None = None


def run_cells(cells: Sequence[Cell], name: str, options: CellOptions) -> None:
    """Compute the missing cells of a study and archive all rows."""
    study = open_study(cells, options.out, name)
    count = study.run(device=options.device, workers=options.workers)
    keep(study, options.out, name)
    print(f"{count} cells computed, {len(study.cells)} finished, in {options.out / name}/")


def mean_and_runs(values: NDArray[Any]) -> dict[str, Any]:
    """Return the mean over runs, its standard error, and every run."""
    interval = mean_interval(values)
    return {"mean": interval.mean, "se": interval.se, "runs": [round(float(x), 4) for x in values]}


def open_study(cells: Sequence[Cell], out: Path, *studies: str) -> Study:
    """Return the cells with what is finished of them, in files or in the archives of studies."""
    study = Study(cells, out / CELLS)
    for name in studies:
        archive = out / name / ARCHIVE
        if archive.exists() and study.missing():
            unpack(archive, study.folder)
    return study


def keep(study: Study, out: Path, name: str) -> Path:
    """Add the finished cells of a study to the archive of this name.

    An archive holds one kind of cell. Cells of several kinds stay in their files.
    """
    archive = out / name / ARCHIVE
    if len({type(cell) for cell in study.cells.values()}) > 1:
        return archive
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent) as temporary:
        folder = Path(temporary) / CELLS
        folder.mkdir()
        before = unpack(archive, folder) if archive.exists() else 0
        for cell in study.cells.values():
            file = study.path(cell)
            if file.exists() and not (folder / file.name).exists():
                shutil.copy(file, folder)
        if len(list(folder.glob("*.parquet"))) > before:
            packed = Path(temporary) / ARCHIVE
            pack(folder, packed)
            packed.replace(archive)
    return archive
