"""What tune and radius do with a choice: describe it, draw it, and name the next command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rich.console import RenderableType

from counterbc.commands import COMMANDS
from counterbc.commands.selection_command import SelectionCommand
from tests.fixture_types import Call, CallJson


class Seven:
    """A choice of seven."""

    def as_dict(self) -> dict[str, Any]:
        return {"number": 7}

    def plot(self, path: Path) -> None:
        path.write_text("seven")


@dataclass(frozen=True, kw_only=True)
class ChooseSeven(SelectionCommand):
    """Choose seven."""

    def choose(self) -> Seven:
        return Seven()

    def describe(self, choice: Seven) -> list[RenderableType]:
        return ["It is 7."]

    def chosen_options(self, choice: Seven) -> dict[str, Any]:
        return {"seeds": 7}


@pytest.fixture(autouse=True)
def _command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "seven", ChooseSeven)


def test_the_next_command_repeats_the_options_and_adds_the_choice(call: Call) -> None:
    status, out, _ = call("seven", "my demos.hdf5", "--method", "bc", "--steps", 5)
    assert status == 0
    words = "counterbc train 'my demos.hdf5' --method bc --steps 5 --seeds 7"
    assert out == f"It is 7.\n\nNext: {words}\n"


def test_the_next_command_reads_the_data_in_the_same_way(call: Call) -> None:
    _, out, _ = call("seven", "demos.hdf5", "--actions-are", "taken", "--trusted")
    words = out.splitlines()[-1].split()
    assert "--trusted" in words
    assert words[words.index("--actions-are") + 1] == "taken"


def test_the_picture_is_drawn_and_named(tmp_path: Path, call_json: CallJson) -> None:
    picture = tmp_path / "seven.png"
    payload = call_json("seven", "demos.hdf5", "--plot", picture)
    assert payload == {"number": 7, "plot": str(picture), "next": payload["next"]}
    assert picture.read_text() == "seven"


def test_a_picture_that_exists_is_kept(tmp_path: Path, call: Call) -> None:
    picture = tmp_path / "seven.png"
    picture.write_text("mine")
    status, _, err = call("seven", "demos.hdf5", "--plot", picture)
    assert status == 1
    assert "already exists" in err
    assert picture.read_text() == "mine"
