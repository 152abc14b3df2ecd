"""Cells of a CSV file that are not numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterbc.errors import FormatError
from counterbc.formats import load, open_stream
from tests.formats.tables import write_csv


def test_episodes_with_text_in_a_cell_do_not_hide_the_others(tmp_path: Path) -> None:
    rows = ["episode,x,y,action", "0,1,1,1", "1,a,2,2", "1,2,b,2", "2,3,3,3", "3,4,4", "4,5,5,5"]
    path = write_csv(tmp_path / "demos.csv", "\n".join(rows))
    episodes = list(open_stream(path).raw_episodes)
    assert [e.name for e in episodes] == [f"demo_{i}" for i in range(5)]
    errors = {e.name: str(e.error) for e in episodes if e.error is not None}
    assert set(errors) == {"demo_1", "demo_3"}
    assert errors["demo_1"] == (
        f"{path}: line 3, column 'x' holds 'a', which is not a number (also line 4, column 'y' "
        "holds 'b'); correct that cell, or leave its column out with --obs y"
    )
    assert "line 6 has 3 cells, but the row of column names has 4" in errors["demo_3"]
    assert [e.obs.tolist() for e in episodes if e.error is None] == [[[1, 1]], [[3, 3]], [[5, 5]]]
    with pytest.raises(FormatError, match="line 3, column 'x' holds 'a'"):
        load(path)


def test_a_bad_cell_far_down_is_named_by_its_line_and_rows_before_it_stay(tmp_path: Path) -> None:
    rows = (f"{i // 60_000},{i},{i % 7}" for i in range(150_000))
    lines = ["# rate: 5", "episode,x,action", *rows]
    lines[140_002] = "2,oops,0"
    episodes = list(open_stream(write_csv(tmp_path / "long.csv", "\n".join(lines))).raw_episodes)
    assert [len(e.action) for e in episodes] == [60_000, 60_000, 0]
    assert "line 140003, column 'x' holds 'oops'" in str(episodes[2].error)
    assert np.array_equal(episodes[1].obs[:, 0], np.arange(60_000, 120_000))


def test_a_row_without_episode_does_not_hide_the_others(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "demos.csv", "episode,x,action\n0,1,2\n,1,2\n1,1,2\n")
    errors = [str(e.error) if e.error else "" for e in open_stream(path).raw_episodes]
    assert ["a row has no episode" in error for error in errors] == [False, True, False]


def test_decimal_commas_are_told_apart_from_words(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="holds '0,5', which is not a number; write decimals"):
        load(write_csv(tmp_path / "a.csv", "x;action\n0,5;1\n"))
