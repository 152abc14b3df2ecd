"""Tables in Markdown."""

from __future__ import annotations

from reproduction.markdown import markdown_table


def test_a_table_without_rows_says_that_nothing_was_run() -> None:
    assert markdown_table(["a", "b"], []) == "Not run yet."
    assert markdown_table(["a", "b"], [["1", "2"]]) == "| a | b |\n|---|---|\n| 1 | 2 |"
