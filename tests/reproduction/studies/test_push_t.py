"""The cells of the study of Push-T."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.errors import OptionError
from reproduction.studies import push_t


def test_the_paper_s_methods_come_first_and_slow_cells_before_quick_ones(tmp_path: Path) -> None:
    path = tmp_path / "demos.hdf5"
    demonstrate("intersection", UniformNoise(0.1), 400, 0).save(path)
    cells = push_t.cells(push_t.PushTOptions(data=path))
    assert len({cell.name for cell in cells}) == len(push_t.ROWS) * len(push_t.SUBSETS)
    first = cells[: push_t.PAPER_ROWS * 2]
    assert [c.work for c in first] == sorted((c.work for c in first), reverse=True)
    assert not any(cell.cleaned for cell in first)


def test_a_file_of_people_is_needed() -> None:
    with pytest.raises(OptionError, match="needs a file of people; name it with --data"):
        push_t.cells(push_t.PushTOptions())


def test_a_wide_network_keeps_the_other_changes() -> None:
    rows = dict(push_t.rows_of("wide"))
    assert rows["BC"]["changes"] == {"hidden": (256, 256)}
    assert rows["BC, mixture policy"]["changes"] == {"hidden": (256, 256), "policy": "mixture"}
