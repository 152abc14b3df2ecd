"""Rows survive a kill, and a case that ran twice counts once."""

from __future__ import annotations

from pathlib import Path

from attack.rows import Row, RowFile


def test_a_row_that_a_kill_cut_short_is_ignored_and_its_case_repeated(tmp_path: Path) -> None:
    rows = RowFile(tmp_path, "part")
    rows.add(Row("a", "read"))
    with rows.path.open("a") as file:
        file.write('{"key": "b", "outc')
    assert [row.key for row in rows.rows()] == ["a"]
    rows.add(Row("b", "refused"))
    assert [(row.key, row.outcome) for row in rows.rows()] == [("a", "read"), ("b", "refused")]


def test_the_last_row_of_a_case_counts(tmp_path: Path) -> None:
    rows = RowFile(tmp_path, "part")
    for outcome in ("traceback", "refused"):
        rows.add(Row("a", outcome))
    assert [row.is_finding for row in rows.rows()] == [False]
    assert not rows.rows()[0].is_finding


def test_clear_forgets_earlier_rows(tmp_path: Path) -> None:
    rows = RowFile(tmp_path / "new", "part")
    assert rows.rows() == []
    rows.clear()
    rows.add(Row("a", "read"))
    rows.clear()
    assert rows.rows() == []
