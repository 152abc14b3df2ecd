"""counterbc reproduce names the command that replaced it."""

from __future__ import annotations

import shlex

import pytest

from counterbc.cli import main


@pytest.mark.parametrize(
    "words",
    [
        "figure4",
        "all --device cuda --on ray",
        "figure4 --quick --env cartpole --pairs 100 --seeds 5",
        "figure4 --data 'my files/$HOME.hdf5'",
        "--help",
        "--an-option --of-no -command",
    ],
)
def test_reproduce_fails_with_one_sentence_that_repeats_what_was_typed(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *shlex.split(words)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.endswith(f"run: python -m reproduction run {words}\n")


def test_reproduce_without_arguments_names_the_new_command_for_everything(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["reproduce"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.endswith("run: python -m reproduction run all\n")
