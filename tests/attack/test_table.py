"""Findings are grouped by root cause, and the table of a page is replaced in place."""

from __future__ import annotations

from pathlib import Path

import pytest

from attack import table
from attack.rows import Row

ROWS = [
    Row("a/1", "read", seconds=1.5, megabytes=200),
    Row("a/2", "refused", seconds=0.1, megabytes=900),
    Row("a/3", "traceback", "KeyError at x.py:f"),
    Row("a/4", "traceback", "ValueError at y.py:g"),
    Row("b/1", "traceback", "ValueError at y.py:g"),
]


def test_findings_of_one_cause_are_one_line_with_their_count() -> None:
    lines = table.by_cause(ROWS).splitlines()
    assert lines == [
        "     2  traceback: ValueError at y.py:g    (for example a/4)",
        "     1  traceback: KeyError at x.py:f    (for example a/3)",
    ]
    assert table.by_cause(ROWS[:2]) == "no findings"


def test_the_table_counts_outcomes_and_findings() -> None:
    assert table.summary({"mutate": ROWS, "malice": ROWS[:1]}).splitlines()[2:] == [
        "| mutate | 5 | read 1, refused 1 | traceback 3 |",
        "| malice | 1 | read 1 | none |",
    ]
    text = "most processor time 1.5 s (a/1), most memory 900 MB (a/2)"
    assert table.extremes(ROWS) == text


def test_only_what_is_between_the_marks_of_a_page_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table.START}\nold\n{table.END}\nafter\n")
    table.fill(page, r"new \1")
    assert page.read_text() == f"before\n{table.START}\nnew \\1\n{table.END}\nafter\n"
    page.write_text("no marks")
    with pytest.raises(ValueError, match="has no place"):
        table.fill(page, "new")
