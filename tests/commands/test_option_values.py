"""Values that an option does not take are answered with the right spelling."""

from __future__ import annotations

import pytest

from counterbc.commands import COMMANDS
from counterbc.commands.arguments import repeat_options
from counterbc.commands.option_values import wrong_value
from tests.fixture_types import Call


def text_about(command: str, typed: str) -> str:
    complete = COMMANDS[command].complete()
    words = repeat_options(complete, ["demos.hdf5", *typed.split()])
    return wrong_value(complete, f"counterbc {command}", words)


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        ("--hidden 64,64", "--hidden 64,64: separate values by spaces: --hidden 64 64"),
        ("--hidden=64,64", "--hidden 64,64: separate values by spaces: --hidden 64 64"),
        ("--radius 0.4,auto", "--radius 0.4,auto: separate values by spaces: --radius 0.4 auto"),
        ("--steps 1e4", "--steps 1e4: write the integer in digits: --steps 10000"),
        ("--hidden 64 6.5", "--hidden 6.5: give an integer"),
        ("--steps 1e400", "--steps 1e400: give an integer or auto"),
        ("--steps many", "--steps many: give an integer or auto"),
        ("--learning-rate fast", "--learning-rate fast: give a number"),
        ("--out", "--out has no value; give one or more, or leave it out"),
        ("--steps --out run", "--steps has no value; give one or more, or leave it out"),
    ],
)
def test_the_right_spelling_is_named(typed: str, advice: str) -> None:
    assert text_about("train", typed) == f"counterbc train {advice}"


@pytest.mark.parametrize(
    "typed",
    [
        "--hidden 64 64 --steps auto --radius 0.4 0.4",
        "--low -1 -2 --high 1 2 --seeds 3",
        "--steps=500 --learning_rate 1e-3 --resume --no-json",
        "--obs a b --relative=-,x -- --hidden",
    ],
)
def test_values_that_an_option_takes_are_let_through(typed: str) -> None:
    assert text_about("train", typed) == ""


def test_methods_without_a_name_are_refused_in_one_sentence(
    call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        call("compare", "demos.hdf5", "--methods")
    assert end.value.code == 2
    assert capsys.readouterr().err == (
        "error: counterbc compare --methods has no value; give one or more, or leave it out\n"
    )
