"""Unknown options are answered with the one that was meant."""

from __future__ import annotations

import re

import pytest

from counterbc.commands import COMMANDS
from counterbc.commands.option_names import FOREIGN, unknown_option
from tests.fixture_types import Call


@pytest.mark.parametrize(
    ("command", "words", "advice"),
    [
        ("train", ["--lr", "0.1"], "--lr; did you mean --learning-rate? See"),
        ("train", ["--batch-size=3"], "--batch-size; did you mean --batch? See"),
        ("train", ["--epochs", "3"], "--epochs; did you mean --steps? See"),
        ("train", ["--output", "x"], "--output; did you mean --out? See"),
        ("train", ["--learning-rat", "1"], "--learning-rat; did you mean --learning-rate? See"),
        ("train", ["--resum"], "--resum; did you mean --resume or --no-resume? See"),
        ("train", ["--dataset", "x.hdf5"], "--dataset; give DEMOS without an option name; see"),
        ("evaluate", ["--run", "x"], "--run; give RUNS without an option name; see"),
        ("export", ["--output", "y"], "--output; give FILE without an option name; see"),
        (
            "train",
            ["--seed", "3"],
            "--seed; --seeds N trains N policies, with seeds 0 to N − 1; see",
        ),
        ("evaluate", ["--lr", "1"], "--lr; see"),
        ("inspect", ["--qqqq"], "--qqqq; see"),
    ],
)
def test_the_option_that_was_meant_is_named(command: str, words: list[str], advice: str) -> None:
    complete = COMMANDS[command].complete()
    text = unknown_option(complete, f"counterbc {command}", ["demos.hdf5", *words])
    assert text == f"counterbc {command} has no option {advice} counterbc {command} --help"


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "reproduce"])
def test_every_option_of_the_help_is_known(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        COMMANDS[command].parse(command, ["--help"])
    text = capsys.readouterr().out
    listed = re.findall(r"^[ │]{1,3}(?:-h, )?(--[a-z][a-z-]*)", text, re.MULTILINE)
    assert {"--help", "--json"} <= set(listed)
    assert unknown_option(COMMANDS[command].complete(), command, listed) == ""


def test_no_word_of_other_programs_has_two_meanings() -> None:
    words = [word for others in FOREIGN.values() for word in others]
    assert len(words) == len(set(words))


def test_the_command_line_prints_one_sentence_and_exits_with_2(
    call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        call("train", "demos.hdf5", "--lr", "0.1")
    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
