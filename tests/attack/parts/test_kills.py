"""Results are compared without what depends on the clock; every difference is a finding."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attack.part import Finding
from attack.parts import kills


def _write(folder: Path, seconds: float, value: float = 1.0) -> dict[str, str]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"a": {"seconds": seconds, "value": value}}))
    pq.write_table(pa.table({"value": [value], "train_seconds": [seconds]}), folder / "x.parquet")
    (folder / ".hidden").touch()
    return kills.contents(folder)


def test_only_the_clock_may_differ(tmp_path: Path) -> None:
    whole = _write(tmp_path / "a", 1.0)
    assert sorted(whole) == ["config.json", "x.parquet"]
    assert _write(tmp_path / "b", 2.0) == whole
    kills._compare("x", {}, _write(tmp_path / "b", 2.0), whole)
    with pytest.raises(Finding, match=r"different result: x: config\.json"):
        kills._compare("x", {}, _write(tmp_path / "c", 1.0, 3.0), whole)


def test_another_file_and_a_lost_cell_are_findings() -> None:
    whole = {"run": "1"}
    with pytest.raises(Finding, match="leftovers: x: half"):
        kills._compare("x", {}, whole | {"half": "2"}, whole)
    cell = {"study/cells/a.parquet": "1"}
    with pytest.raises(Finding, match="lost rows"):
        kills._compare("x", cell, {"study/cells/a.parquet": "2"}, {"study/cells/a.parquet": "2"})


def test_every_kind_gets_as_many_cases() -> None:
    keys = kills.cases(100, 0)
    assert [sum(key.startswith(kind) for key in keys) for kind in kills.KINDS] == [100] * 3
