"""The cells of the study of Can."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from counterbc.demonstrators import UniformNoise, demonstrate
from reproduction.studies import can, can_record


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "demos.hdf5"
    demonstrate("intersection", UniformNoise(0.1), 40, 0).save(path)
    return path


def test_every_cell_acts_by_its_mean_action_and_has_its_own_name(file: Path) -> None:
    options = can.CanOptions(data=file, network="wide")
    cells = [can.cell(s, row, options) for row in can.ROWS.values() for s in can.SUBSETS.values()]
    assert len({cell.name for cell in cells}) == 16
    assert {cell.acts for cell in cells} == {("mean",)}
    assert all("256" in cell.name for cell in cells)


@pytest.mark.extra("robosuite")
def test_the_study_archives_the_rows_of_every_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    can_record.run(can_record.CanRecordOptions(out=tmp_path / "can.hdf5", each=1))
    monkeypatch.setattr(can, "ROWS", {k: can.ROWS[k] for k in ("BC", "Counter-BC, Δ 0.4")})
    options = can.CanOptions(
        data=tmp_path / "can.hdf5", seeds=1, episodes=1, steps=2, device="cpu", workers=1,
        out=tmp_path,
    )  # fmt: skip
    can.run(options)
    rows = pq.read_table(tmp_path / "can" / "rows.parquet").to_pylist()
    assert sorted((r["method"], r["subset"]) for r in rows) == [
        ("bc", "all"), ("bc", "better"), ("bc", "worse"),
        ("counter-bc", "all"), ("counter-bc", "worse"),
    ]  # fmt: skip
    assert all(r["kernel"] and r["torch"] for r in rows)
