"""An archive gives back the rows that were put into it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from counterbc.experiments.archive import main, pack, unpack
from counterbc.experiments.cell import Cell
from counterbc.experiments.study import Study
from reproduction.options import RESULTS
from reproduction.recovery import RecoveryCell
from tests.experiments.cells import TINY

HOCKEY = replace(TINY, world="air-hockey", teacher="crowd", sigma=None, pool=50, episodes=1)
RECOVERY = RecoveryCell(method="counter-bc", radius=0.5, pairs=20, seeds=2, steps=3)
CELLS: list[Cell] = [TINY, HOCKEY, RECOVERY]


def test_cells_of_all_kinds_come_out_as_they_went_in(tmp_path: Path) -> None:
    before = Study(CELLS, tmp_path / "rows")
    before.run("cpu", workers=1)
    assert pack(tmp_path / "rows", tmp_path / "rows.parquet") == 3
    assert unpack(tmp_path / "rows.parquet", tmp_path / "again") == 3
    for cell in CELLS:
        first, second = (Study([cell], tmp_path / f).table() for f in ("rows", "again"))
        assert second.select(first.column_names).to_pylist() == first.to_pylist()
        assert set(second.column_names) == set(first.column_names)
    after = Study(CELLS, tmp_path / "again")
    assert after.run("cpu", workers=1) == 0


def test_an_archive_of_version_0_1_is_unpacked(tmp_path: Path) -> None:
    archive = RESULTS / "figure3" / "rows.parquet"
    assert pq.read_schema(archive).names[0] == "population"
    assert unpack(archive, tmp_path / "cells") == 7
    assert pack(tmp_path / "cells", tmp_path / "rows.parquet") == 7
    old_rows, new_rows = (pq.read_table(path) for path in (archive, tmp_path / "rows.parquet"))
    assert new_rows.column_names[0] == "cell"
    column = {"cell": "population"}
    for name in new_rows.column_names:
        assert new_rows[name].equals(old_rows[column.get(name, name)])


def test_what_is_no_archive_is_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.parquet"
    assert main(["pack", str(tmp_path), str(path)]) == 1
    assert "holds no rows" in capsys.readouterr().err
    path.write_bytes(b"nothing")
    assert main(["unpack", str(path), str(tmp_path / "again")]) == 1
    assert "is not an archive of rows" in capsys.readouterr().err
    assert main(["pack", str(tmp_path), str(path)]) == 1
    assert "already exists" in capsys.readouterr().err
