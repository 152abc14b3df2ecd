"""Rows of a study: one file per cell while it runs, one archive when it is finished.

OUT/rows/CELL.parquet         cells as they are finished; not kept in the repository
OUT/STUDY/rows.parquet        all cells of a study, with device and versions of each
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from counterbc.experiments.archive import pack, unpack
from counterbc.experiments.cell import Cell
from counterbc.experiments.study import Study

CELLS, ARCHIVE = "rows", "rows.parquet"


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
