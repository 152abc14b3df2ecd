"""Options that are made from dataclasses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import pytest
import tyro
from rich.console import RenderableType

from counterbc.commands.command import Command, Json
from counterbc.commands.options import Group, as_typed, field_docs
from counterbc.commands.train import Train
from counterbc.errors import OptionError
from counterbc.settings import Settings

COLOURS = {"red": 1, "green": 2}


@dataclass(frozen=True)
class Paint:
    """How to paint.

    Nobody reads on.
    """

    coats: int = field(default=2, metadata={"words": {9: "many"}})
    """Number of coats;
    see `stop_early`."""
    stop_early: bool = False
    """Stop early."""
    colour: str | None = field(default=None, metadata={"choices": COLOURS})
    """The colour."""
    width: float | tuple[float, ...] | Literal["auto"] = "auto"
    """Width of a line."""
    layers: tuple[int, ...] | None = field(default=None, metadata={"option": "layer"})
    """Sizes."""
    finish: Literal["matt", "gloss"] | None = None
    """The finish."""
    hidden: int = 0


@dataclass(frozen=True)
class PaintCommand(Command):
    """Paint."""

    wall: str = "north"
    """The wall."""

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        thick = Paint(coats=9, stop_early=True)
        presets = {"default": Paint(), "thick": thick}
        return {"paint": Group(kind=Paint, without=("hidden",), presets=presets)}

    def run(self) -> tuple[Json, list[RenderableType]]:
        return {}, []


def given_options(*words: str) -> dict[str, Any]:
    return tyro.cli(PaintCommand.complete(), args=words).given_options("paint")


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ((), {}),
        (("--coats", "2"), {"coats": 2}),
        (("--stop-early",), {"stop_early": True}),
        (("--no-stop-early",), {"stop_early": False}),
        (("--colour", "blue"), {"colour": "blue"}),
        (("--finish", "gloss"), {"finish": "gloss"}),
        (("--width", "auto"), {"width": "auto"}),
        (("--width", "0.5"), {"width": 0.5}),
        (("--width", "0.5", "--width", "1"), {"width": (0.5, 1.0)}),
        (("--layer", "8"), {"layers": (8,)}),
        (("--layer", "8", "--layer", "4"), {"layers": (8, 4)}),
    ],
)
def test_only_options_that_were_typed_are_given(
    words: tuple[str, ...], values: dict[str, Any]
) -> None:
    assert given_options(*words) == values


@pytest.mark.parametrize("words", [("--hidden", "1"), ("--coats", "many"), ("--coats", "None")])
def test_what_is_no_option_or_no_value_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        given_options(*words)


@pytest.mark.parametrize("word", ["None", "silk"])
def test_a_word_that_is_not_allowed_is_refused_like_an_unknown_name(word: str) -> None:
    with pytest.raises(OptionError, match=f"^unknown finish '{word}'; allowed: matt, gloss$"):
        given_options("--finish", word)


def test_a_word_and_a_number_are_refused_together() -> None:
    with pytest.raises(OptionError, match=r"width is auto and 0\.5; give auto alone, or numbers"):
        given_options("--width", "auto", "--width", "0.5")


def test_the_help_has_docstrings_choices_and_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        given_options("--help")
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for words in (
        "How to paint.",
        "--coats INT Number of coats; see --stop-early. (default: 2; thick: many)",
        "--stop-early, --no-stop-early Stop early. (default: off; thick: on)",
        "--colour {red,green} The colour. ",
        "--finish {matt,gloss} The finish.",
        "Width of a line. (default: auto)",
        "--wall WALL The wall. (default: north)",
    ):
        assert words in text
    assert "Nobody" not in text


def test_every_setting_is_an_option_of_train() -> None:
    command = tyro.cli(Train.complete(), args=("demos.hdf5",))
    names = [f.name for f in fields(getattr(command, "settings"))]  # noqa: B009 - made by complete
    assert names == [f.name for f in fields(Settings)]
    assert all(field_docs(Settings).values()), "a setting without a docstring has no help"


def test_values_are_repeated_as_they_are_typed() -> None:
    values = {"obs": ("a", "b"), "learning_rate": 0.5, "limited": False, "resample": True}
    assert as_typed(values | {"censored": False}) == [
        "--obs", "a", "--obs", "b", "--learning-rate", "0.5", "--no-limited", "--resample",
        "--censored", "False",
    ]  # fmt: skip
    exact = {"radius": (0.123456789, 2.0), "obs": "v1.0"}
    assert as_typed(exact) == ["--radius", "0.123456789", "--radius", "2", "--obs", "v1.0"]


def test_a_command_repeats_its_fields_and_groups_without_defaults() -> None:
    words = ("--wall", "south", "--layer", "3", "--stop-early")
    command = tyro.cli(PaintCommand.complete(), args=words)
    assert command.as_typed("paint", "wall") == [
        "--wall", "south", "--stop-early", "--layer", "3",
    ]  # fmt: skip
    assert tyro.cli(PaintCommand.complete(), args=()).as_typed("paint", "wall") == []


def test_the_help_has_names_for_values_and_no_types_of_python(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from counterbc.commands import COMMANDS

    for name, command in COMMANDS.items():
        if name == "reproduce":  # it has no options
            continue
        with pytest.raises(SystemExit):
            command.parse(name, ["--help"])
        text = capsys.readouterr().out
        assert not re.search(r"--[a-z-]+ (STR|PATH|NONE)\b", text), name
        assert "None" not in text
    with pytest.raises(SystemExit):
        COMMANDS["train"].parse("train", ["--help"])
    text = capsys.readouterr().out
    for words in ("--out OUT", "--obs OBS…", "--hidden INT…", "--mask MASK", "--env {intersection"):
        assert words in text
