"""The lag of recordings of people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reproduction.records import read
from reproduction.studies import lag_recordings
from tests.selection.datasets import late_demos


def test_a_row_has_the_verdict_the_curve_and_the_explained_share() -> None:
    row = lag_recordings.measure(late_demos(2), "cpu")
    assert (row["verdict"], row["lag"], row["episodes"], row["pairs"]) == ("late", [2.0], 10, 300)
    assert row["lags"] == list(range(13))
    assert min(row["error"]) == row["error"][2]
    assert row["explained"]["low"] < row["explained"]["value"] < row["explained"]["high"]


def test_the_table_shows_errors_in_units_of_that_of_no_lag_by_hand() -> None:
    row = {
        "recording": "pusht_human_206.hdf5", "episodes": 3, "pairs": 60, "rate": 10.0,
        "verdict": "not late", "lag": [0.0], "lags": [0, 1, 2, 3, 4],
        "error": [0.2, 0.3, 0.4, 0.5, 0.6], "own_past_error": [0.2, 0.1, 0.3, 0.3, 0.3],
        "explained": {"value": 0.8, "low": 0.7, "high": 0.9},
    }  # fmt: skip
    (line,) = lag_recordings.markdown([row]).splitlines()[2:]
    assert line == (
        "| Push-T, mouse | 3 | 60 | 0.4 s (4 steps) | not late | 0 s (0 steps) | 80 % [70, 90] "
        "| 1: 1.50, 2: 2.00, 4: 3.00 | 0.1 s (1 step) |"
    )


@pytest.mark.slow
def test_no_lag_is_found_in_self_paced_manipulation(
    data: Path, tmp_path: Path, check_origin: Any
) -> None:
    options = lag_recordings.LagRecordingsOptions(data=data, device="cpu", out=tmp_path)
    lag_recordings.run(options)
    rows = read(tmp_path / "lag-recordings" / "rows.json")
    check_origin(*rows)
    assert [r["recording"] for r in rows] == list(lag_recordings.RECORDINGS)
    for row in rows:
        assert row["lag"] == [0.0]
        assert row["verdict"] != "late"
        assert min(row["error"]) == row["error"][0]  # it rises from lag 0 at once
        assert row["explained"]["low"] > 0.1
