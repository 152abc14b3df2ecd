"""Folders that hold one CSV file per trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.errors import DataError, FormatError
from counterbc.formats import detect, load, open_stream
from counterbc.formats.csv_folder import list_tables
from tests.formats.tables import write_csv


def test_a_folder_of_tables_has_one_episode_per_file_in_natural_order(tmp_path: Path) -> None:
    for i in (10, 2, 1):
        write_csv(tmp_path / f"trial_{i}.csv", f"x,action\n{i},0.5\n{i + 1},0.5\n")
    (tmp_path / "README.md").write_text("notes")
    assert detect(tmp_path) == "csv"
    demos = load(tmp_path)
    assert [e.name for e in demos.episodes] == ["trial_1", "trial_2", "trial_10"]
    assert demos.obs[:, 0].tolist() == [1, 2, 2, 3, 10, 11]
    assert demos.operators == ()
    assert open_stream(tmp_path).header.left_out == ("file 'README.md'",)


def test_tables_of_several_episodes_name_them_by_file(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        write_csv(tmp_path / f"{name}.csv", "# rate: 9\ntrial,time,x,vx\n0,0,1,2\n1,0,1,2\n")
    demos = load(tmp_path, action=["vx"])
    assert [e.name for e in demos.episodes] == [
        "ann: demo_0", "ann: demo_1", "bob: demo_0", "bob: demo_1"
    ]  # fmt: skip
    assert (demos.rate, demos.obs_names) == (9.0, ("x",))


def test_a_table_that_does_not_fit_does_not_hide_the_others(tmp_path: Path) -> None:
    texts = {"a": "x,action\n1,2\n", "b": "y,action\n1,2\n", "c": "# rate: 5\nx,action\n1,2\n",
             "d": "x,action\n1,no\n", "e": "x,action\n1,2\n", "f": ""}  # fmt: skip
    for name, text in texts.items():
        write_csv(tmp_path / f"{name}.csv", text)
    episodes = list(open_stream(tmp_path).raw_episodes)
    errors = {e.name: str(e.error) for e in episodes if e.error is not None}
    assert [e.name for e in episodes] == list("abcdef")
    assert sorted(errors) == ["b", "c", "d", "f"]
    assert "b.csv has the columns y, action, but a.csv has x, action; give all" in errors["b"]
    assert "c.csv declare something else than those of a.csv" in errors["c"]
    assert "d.csv: line 2, column 'action' holds 'no'" in errors["d"]
    with pytest.raises((FormatError, DataError), match=r"b\.csv has the columns"):
        load(tmp_path)


def test_other_data_in_a_folder_keep_it_from_being_a_folder_of_tables(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", "x,action\n1,2\n")
    assert list_tables(tmp_path) == [tmp_path / "a.csv"]
    (tmp_path / "b.npz").write_bytes(b"")
    assert list_tables(tmp_path) == []
    (tmp_path / "b.npz").unlink()
    (tmp_path / "meta").mkdir()
    assert list_tables(tmp_path) == []
    assert list_tables(tmp_path / "nowhere") == []
