"""The cells of the study of Push-T."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from counterbc import load
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


@pytest.mark.slow
@pytest.mark.needs("gym_pusht")
def test_the_study_archives_the_rows_of_every_cell(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "demos.hdf5"
    load(data / "pusht_human_206.hdf5").subset(range(10)).save(file)
    monkeypatch.setattr(push_t, "ROWS", (push_t.ROWS[0], push_t.ROWS[5]))
    options = push_t.PushTOptions(
        data=file, seeds=1, episodes=1, steps=2, device="cpu", workers=1, out=tmp_path
    )
    push_t.run(options)
    rows = pq.read_table(tmp_path / "push-t-default" / "rows.parquet").to_pylist()
    assert {(r["label"], r["subset"]) for r in rows} == {
        (c.label, str(c.subset)) for c in push_t.cells(options)
    }
    assert len(rows) == 2 * 2 * 2  # cells, subsets, ways of acting
    assert all(r["kernel"] and r["torch"] for r in rows)
