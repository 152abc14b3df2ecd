"""A summary compares every method with the first one, seed by seed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from counterbc.experiments.grid import Entry, Grid
from counterbc.experiments.study import Study
from counterbc.experiments.summary import summarize, write_summary


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return Grid(
        methods=["bc", "counter-bc"], data=[{"world": "intersection", "pairs": [20, 40]}],
        settings={"steps": 3, "radius": 0.4}, seeds=3, episodes=2, acts=["mean", "sample"],
    ).entries()  # fmt: skip


@pytest.fixture(scope="module")
def study(entries: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = Study([e.cell for e in entries], tmp_path_factory.mktemp("cells"))
    study.run("cpu", workers=1)
    return study


def test_differences_are_paired_by_seed(entries: list[Entry], study: Study) -> None:
    lines = summarize(entries, study)
    assert [(line.entry.method, line.act) for line in lines[:4]] == [
        ("bc", "mean"), ("counter-bc", "mean"), ("bc", "sample"), ("counter-bc", "sample"),
    ]  # fmt: skip
    first, second = lines[:2]
    rows = pq.read_table(study.path(entries[0].cell)).to_pylist()
    np.testing.assert_allclose(first.values, [r["return"] for r in rows if r["act"] == "mean"])
    assert first.difference is None
    assert second.difference is not None
    gaps = second.values - first.values
    assert second.difference.interval.mean == pytest.approx(gaps.mean())
    assert second.difference.interval.se == pytest.approx(gaps.std(ddof=1) / np.sqrt(3))
    assert second.label("Counter-BC") == "Counter-BC, Δ 0.4"


def test_rows_and_summary_are_written(entries: list[Entry], study: Study, tmp_path: Path) -> None:
    lines = summarize(entries, study)
    write_summary(entries, lines, study, tmp_path)
    rows = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert len(rows) == 4 * 3 * 2
    assert all(r["demonstrations"].endswith(f"{r['pairs']} pairs") for r in rows)
    contents = json.loads((tmp_path / "summary.json").read_text())
    assert [c["mean"] for c in contents] == [line.interval.mean for line in lines]
    assert contents[0]["difference"] is None
