"""A command may fail only where its output cannot be written, and then says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from attack.part import Finding
from attack.parts import encodings
from attack.processes import Ending
from counterbc import load


def test_success_and_explained_failures_are_accepted() -> None:
    encodings._check("x", "ascii", Ending(0, "fine\n"))
    encodings._check("x", "a full disk", Ending(1, "error: the output could not be written\n"))
    encodings._check("x", "a closed pipe", Ending(1, ""))


@pytest.mark.parametrize(
    ("output", "ending"),
    [
        ("ascii", Ending(1, "error: x\n")),
        ("a full disk", Ending(1, "no sentence\n")),
        ("cp1252", Ending(0, "\x1b[31mred\n")),
    ],
)
def test_other_endings_are_findings(output: str, ending: Ending) -> None:
    with pytest.raises(Finding):
        encodings._check("x", output, ending)


def test_the_odd_names_are_read_as_they_are(tmp_path: Path) -> None:
    encodings._write_odd_names(tmp_path / "odd.csv")
    demos = load(tmp_path / "odd.csv")
    assert demos.obs_names == ("Δ[/s]", "\x1b[31mcol\x1b[0m")
    assert demos.episodes[0].operator == "[red]漢0"
