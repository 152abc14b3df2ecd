"""Values for JSON, and text that a terminal shows and does not obey."""

from __future__ import annotations

import io
import json

import pytest
from rich.progress import Progress
from rich.table import Table

from counterbc.commands.command import plain_table
from counterbc.printing import console, printable, sentence, text_column, without_nan

NAMES = ["speed [m/s]", "[/s]", "[red]x", ":smile:", "[link=file:///etc/passwd]a[/link]"]


def test_numbers_that_json_does_not_know_become_null_at_every_depth() -> None:
    value = {"a": [1.0, float("nan"), (float("inf"), 2)], "b": {"c": -float("inf")}, "d": "nan"}
    clean = without_nan(value)
    assert clean == {"a": [1.0, None, [None, 2]], "b": {"c": None}, "d": "nan"}
    assert json.loads(json.dumps(clean, allow_nan=False)) == clean


def test_other_values_stay_as_they_are() -> None:
    values: tuple[object, ...] = (None, True, 3, -0.5, "text", {})
    for value in values:
        assert without_nan(value) == value


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain Δ × 漢字 é", "plain Δ × 漢字 é"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b2J\r\b\x7f", r"\x9b2J\r\x08\x7f"),
        ("right\u202eleft", r"right\u202eleft"),
        ("not UTF-8: \udcff", r"not UTF-8: \udcff"),
        ("two\nlines\tand a tab", "two\nlines    and a tab"),
        ("95\u00a0%", "95\u00a0%"),
    ],
)
def test_control_characters_are_written_out(text: str, seen: str) -> None:
    assert printable(text) == seen
    printable(text).encode()


def test_a_sentence_is_one_line_of_readable_length() -> None:
    assert sentence("two\nlines") == r"two\nlines"
    assert len(sentence("x" * 100_000)) == 1001


@pytest.mark.parametrize("name", NAMES)
def test_names_in_tables_are_text(name: str) -> None:
    output = console(width=200)
    output.file = io.StringIO()
    table = plain_table([name, "n"], [[name, "1"]])
    assert isinstance(table, Table)
    output.print(table)
    assert output.file.getvalue().count(name) == 2


@pytest.mark.parametrize("name", NAMES)
def test_names_in_progress_bars_are_text(name: str) -> None:
    output = console(width=200)
    output.file = io.StringIO()
    with Progress(text_column("{task.description}"), console=output) as bar:
        bar.add_task(name)
    assert name in output.file.getvalue()
