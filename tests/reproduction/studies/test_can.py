"""The cells of the study of Can."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.demonstrators import UniformNoise, demonstrate
from reproduction.studies import can


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
