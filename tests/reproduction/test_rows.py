"""Cells and archives of a study."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from reproduction.recovery import RecoveryCell
from reproduction.rows import keep, open_study

CELLS = [
    RecoveryCell(method=m, radius=r, pairs=20, seeds=2, steps=2)
    for m, r in (("bc", None), ("counter-bc", 0.5))
]


def test_an_archive_replaces_the_files_of_its_cells(tmp_path: Path) -> None:
    study = open_study(CELLS[:1], tmp_path)
    study.run(device="cpu", workers=1)
    rows = study.table().to_pylist()
    archive = keep(study, tmp_path, "figure3")
    study.path(CELLS[0]).unlink()
    second = open_study(CELLS, tmp_path, "figure3")
    assert [cell.name for cell in second.missing()] == [CELLS[1].name]
    assert open_study(CELLS[:1], tmp_path).table().to_pylist() == rows
    # A second cell joins the archive; keeping it once more changes nothing.
    second.run(device="cpu", workers=1)
    keep(second, tmp_path, "figure3")
    written_at = archive.stat().st_mtime_ns
    assert pq.read_table(archive).num_rows == 4
    keep(second, tmp_path, "figure3")
    assert archive.stat().st_mtime_ns == written_at
    assert [p.name for p in archive.parent.iterdir()] == ["rows.parquet"]
