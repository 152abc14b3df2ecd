"""Options from the fields of a dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from reproduction.options import StudyOptions, option, parse


@dataclass(frozen=True, kw_only=True)
class Options(StudyOptions):
    """Options of a test."""

    seeds: int = 20
    steps: int | None = None
    worlds: tuple[str, ...] = option(("cartpole", "fork"), "worlds", flag="--env")
    only: Literal["line", "fork"] | None = None
    cost: bool = False


def test_fields_become_options_with_their_defaults() -> None:
    assert parse(Options, [], "run test") == Options()
    assert Options().numbers("radius") == Path("runs/reproduction/radius/numbers.json")


def test_values_have_the_types_of_the_fields() -> None:
    words = "--seeds 3 --steps 7 --env a b --env c --only line --cost --out here"
    options = parse(Options, words.split(), "run test")
    assert options == Options(
        seeds=3, steps=7, worlds=("a", "b", "c"), only="line", cost=True, out=Path("here")
    )


def test_other_values_exit_with_an_explanation(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(Options, ["--only", "moon"], "run test")
    assert "invalid choice: 'moon'" in capsys.readouterr().err


def test_the_help_names_options_texts_and_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(Options, ["--help"], "run test")
    text = capsys.readouterr().out
    assert "Options of a test." in text
    assert "worlds (default: cartpole fork)" in text
    assert "number of runs, each with its own seed (default: 20)" in text
    assert "gradient steps of each training; by default the preset's" in " ".join(text.split())
