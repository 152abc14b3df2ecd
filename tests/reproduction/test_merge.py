"""Rows of further runs join those on file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from reproduction.__main__ import main
from reproduction.merge import MergeOptions, merge
from reproduction.options import RESULTS
from reproduction.records import Records, read_rows, write_rows
from reproduction.studies import STUDIES, lag, load_study


def row(seed: int, value: float = 5.0, **further: Any) -> dict[str, Any]:
    about = {"world": "cartpole", "noise": "none", "pairs": 1600, "seconds": 0.1, "seed": seed}
    measured = {"lag": value, "verdict": "late", "confident": True, "median_length": 200.0}
    return about | measured | further


def test_rows_of_two_runs_are_added_once_and_never_replace_those_on_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results"
    write_rows([row(0), row(1)], results / "lag")
    write_rows([row(1, 9.0), row(2, triton="3.6")], tmp_path / "a")
    write_rows([row(3)], tmp_path / "b")
    merge("lag", [tmp_path / "a", tmp_path / "b" / "rows.parquet"], MergeOptions(results=results))
    rows = read_rows(results / "lag")
    assert [(r["seed"], r["lag"]) for r in rows] == [(0, 5.0), (1, 5.0), (2, 5.0), (3, 5.0)]
    assert [r["triton"] for r in rows] == [None, None, "3.6", None]
    assert "2 rows added to the 2 in" in capsys.readouterr().out
    assert lag.sections(results)["tune"]["lag-size"].endswith("4 with 1600 pairs")
    merge("lag", [tmp_path / "a"], MergeOptions(results=results))
    assert read_rows(results / "lag") == rows


def test_rows_of_a_stopped_study_are_added_from_its_json(tmp_path: Path) -> None:
    Records(tmp_path / "stopped" / "rows.json", device="cpu").add(row(0), row(1))
    results = tmp_path / "results"
    merge("lag", [tmp_path / "stopped"], MergeOptions(results=results))
    rows = read_rows(results / "lag")
    assert [r["seed"] for r in rows] == [0, 1]
    assert {r["torch"] for r in rows} == {str(torch.__version__)}


def test_a_stopped_study_beside_the_rows_on_file_does_not_hide_merged_rows(tmp_path: Path) -> None:
    results = tmp_path / "results"
    write_rows([row(0)], results / "lag")
    path = results / "lag" / "rows.json"
    Records(path, device="cpu").add(row(1))
    write_rows([row(2)], tmp_path / "further")
    merge("lag", [tmp_path / "further"], MergeOptions(results=results))
    assert {r["seed"] for r in Records(path).rows} == {0, 1, 2}
    assert not path.exists()


@pytest.mark.parametrize("study", [s for s in STUDIES if hasattr(load_study(s), "KEY")])
def test_the_key_of_a_study_tells_all_rows_on_file_apart(study: str) -> None:
    rows = read_rows(RESULTS / study)
    assert len({tuple(r[name] for name in load_study(study).KEY) for r in rows}) == len(rows)


def test_what_cannot_be_merged_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows([{"seed": 0}], tmp_path)
    (tmp_path / "text").write_text("no table")
    results = ["--results", str(tmp_path / "results")]
    for arguments, message in (
        (["lag"], "name a study, and the rows.parquet of each run to add"),
        (["fly", str(tmp_path)], "unknown study 'fly'; allowed: "),
        (["teachers", str(tmp_path)], "the rows of teachers cannot be merged; run it with --out"),
        (["lag", str(tmp_path)], "has no column world, noise, pairs, seconds; give"),
        (["lag", str(tmp_path / "text")], "is not Parquet; give the rows.parquet of a run"),
        (["lag", str(tmp_path / "none")], "does not exist; give the rows.parquet of a run"),
    ):
        assert main(["merge", *arguments, *results]) == 1
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
    assert not (tmp_path / "results").exists()
