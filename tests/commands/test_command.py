"""What every command has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest
import tyro
from rich.console import RenderableType

from counterbc.cli import main
from counterbc.commands import COMMANDS
from counterbc.commands.command import Command, DeviceCommand, Json, plain_table
from counterbc.commands.options import field_docs


@dataclass(frozen=True)
class Greet(Command):
    """Greet somebody."""

    name: str = "world"
    """Who is greeted."""

    @classmethod
    def option_choices(cls) -> dict[str, Iterable[str]]:
        return {"name": ("world", "moon")}

    def run(self) -> tuple[Json, list[RenderableType]]:
        return {"name": self.name}, [f"hello {self.name}"]

    def status(self, payload: Json) -> int:
        return 4 if payload["name"] == "moon" else 0


def test_a_command_prints_text_or_json_and_decides_the_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(COMMANDS, "greet", Greet)
    assert main(["greet"]) == 0
    assert capsys.readouterr().out == "hello world\n"
    assert main(["greet", "--name", "moon", "--json"]) == 4
    assert capsys.readouterr().out == '{"name": "moon"}\n'


def test_choices_are_in_the_help_and_the_library_decides_what_is_allowed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        tyro.cli(Greet.complete(), args=["--help"])
    assert "--name {world,moon}" in capsys.readouterr().out
    assert tyro.cli(Greet.complete(), args=["--name", "sun"]).name == "sun"


def test_a_table_has_text_on_the_left_and_numbers_on_the_right() -> None:
    table = plain_table(("name", "n"), [("a", "1"), ("b", "22")])
    assert [column.justify for column in table.columns] == ["left", "right"]
    assert table.row_count == 2


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_and_option_has_a_help_text(name: str) -> None:
    command = COMMANDS[name]
    assert (command.__doc__ or "").strip().endswith((".", '."'))
    texts = field_docs(command)
    silent = [f for f in command.__dataclass_fields__ if not texts[f]]
    annotated = [f for f in silent if "help=" in str(command.__annotations__.get(f, ""))]
    assert silent == annotated


def test_every_command_with_a_device_has_the_same_option_for_it() -> None:
    commands = [c for c in COMMANDS.values() if "device" in c.__dataclass_fields__]
    assert len(commands) >= 6
    assert all(issubclass(c, DeviceCommand) for c in commands)
    assert len({field_docs(c)["device"] for c in commands}) == 1
