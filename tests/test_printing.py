"""Values for JSON, and text that a terminal shows and does not obey."""

from __future__ import annotations

import io
import json
import time

import pytest
from rich.progress import Progress
from rich.table import Table

from counterbc.commands.command import plain_table
from counterbc.printing import (
    LINE_EVERY,
    WorkBars,
    console,
    duration,
    printable,
    sentence,
    stage,
    text_column,
    without_nan,
)

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


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "about 0 seconds"),
        (0.4, "about 0.4 seconds"),
        (45, "about 45 seconds"),
        (119, "about 120 seconds"),
        (125, "about 2.1 minutes"),
        (3000, "about 50 minutes"),
        (8200, "about 2.3 hours"),
        (46_800, "about 13 hours"),
        (400_000, "about 4.6 days"),
    ],
)
def test_a_duration_is_in_words_with_two_digits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def _wait_for(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what was printed by the time that a text appeared; fail after a minute."""
    printed = ""
    for _ in range(6000):
        printed += capsys.readouterr().err
        if text in printed:
            return printed
        time.sleep(0.01)
    raise AssertionError(f"{text!r} was not printed, only {printed!r}")


def test_without_a_terminal_lines_appear_during_a_single_long_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert LINE_EVERY == 10
    monkeypatch.setattr("counterbc.printing.LINE_EVERY", 0.02)
    with WorkBars(line=lambda task: f"{task.description} {task.completed:g}") as bars:
        first = bars.add_task("first", total=2)
        _wait_for("first 0\n", capsys)
        bars.update(first, completed=1)
        _wait_for("first 1\nfirst 1\n", capsys)
        bars.update(first, completed=2)
        bars.add_task("second", total=2)
        assert _wait_for("second 0\nsecond 0\n", capsys).count("first 2") == 0, "it is finished"
        thread = bars.thread
    assert thread is not None
    thread.join(60)
    assert not thread.is_alive()


def test_work_without_a_bar_says_how_long_it_lasts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("counterbc.printing.LINE_EVERY", 0.02)
    with stage("looking for goals"):
        assert "seconds so far" in _wait_for("looking for goals, about ", capsys)


def test_hidden_bars_print_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("counterbc.printing.LINE_EVERY", 0.001)
    with WorkBars(line=lambda task: "a line", is_shown=False) as bars:
        bars.add_task("first", total=2)
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")
