"""Several values after one option."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import counterbc
from counterbc.cli import main
from counterbc.commands.arguments import repeat_options
from counterbc.commands.train import Train
from tests.fixture_types import Call

TRAIN = Train.complete()


@pytest.mark.parametrize(
    ("words", "expected_words"),
    [
        ("a.hdf5 --hidden 64 32", "a.hdf5 --hidden 64 --hidden 32"),
        ("--hidden 64 32 a.hdf5", "--hidden 64 --hidden 32 a.hdf5"),
        ("--hidden 64 --hidden 32 a.hdf5", "--hidden 64 --hidden 32 a.hdf5"),
        ("--low -1 -2 --seeds 2 a.hdf5", "--low -1 --low -2 --seeds 2 a.hdf5"),
        ("--obs pose grip b.csv c.npz", "--obs pose --obs grip b.csv c.npz"),
        ("--obs pose -- grip", "--obs pose -- grip"),
        ("--seeds 2 a b --radius 0.4 0.4 0", "--seeds 2 a b --radius 0.4 --radius 0.4 --radius 0"),
    ],
)
def test_values_end_at_an_option_or_a_file(words: str, expected_words: str) -> None:
    assert repeat_options(TRAIN, words.split()) == expected_words.split()


def test_texts_end_at_a_folder(tmp_path: Path) -> None:
    words = ["--operator", "ann", "bob", str(tmp_path)]
    expected_words = ["--operator", "ann", "--operator", "bob", str(tmp_path)]
    assert repeat_options(TRAIN, words) == expected_words


@pytest.mark.parametrize("name", ["obs", "operator", "exclude", "radius", "hidden", "lag"])
def test_the_help_says_that_several_values_may_follow_an_option(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["train", "--help"])
    text = capsys.readouterr().out
    lines = " ".join(re.sub("[│╭╰─]", " ", text).split())
    abouts = [about for about in re.split(" (?=--)", lines) if about.startswith(f"--{name} ")]
    assert any(re.search("list them or repeat it|or repeat the option", about) for about in abouts)


def test_the_version_is_printed(call: Call) -> None:
    assert call("--version") == (0, f"counterbc {counterbc.__version__}\n", "")
