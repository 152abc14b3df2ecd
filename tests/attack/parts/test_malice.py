"""Malicious inputs are refused or read within bounds, and harm is a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from attack import malice
from attack.commands import Result
from attack.part import Finding
from attack.parts import malice as part

QUICK = [
    "npz with pickled obs",
    "npz that claims terabytes",
    "hdf5 with an external link to observations",
    "hdf5 with numbers stored outside",
    "hdf5 with an endless heap",
    "lerobot with data outside",
    "lerobot with a playlist as film",
    "a pipe named x.hdf5",
    "a link to a device named x.csv",
]


@pytest.mark.parametrize("name", QUICK)
def test_an_input_is_refused_without_harm(name: str, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    row = part.run(name, tmp_path / "scratch")
    assert (row.outcome, row.is_finding) == ("refused", False)


def test_one_bomb_among_the_episodes_is_listed_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    row = part.run("minari of compressed zeros", tmp_path / "scratch")
    assert (row.outcome, row.is_finding) == ("read", False)


def test_there_are_as_many_cases_as_inputs() -> None:
    assert part.cases(3, 0) == list(malice.INPUTS)
    assert len(malice.INPUTS) > 100


def test_control_characters_in_the_output_are_harm() -> None:
    part._check_output("x", Result(0, "plain\n", ""))
    with pytest.raises(Finding, match="control characters"):
        part._check_output("x", Result(0, "\x1b[31mred", ""))
