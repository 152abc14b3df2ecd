"""What every command has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
import tyro
from rich.console import RenderableType

from counterbc.cli import main
from counterbc.commands import COMMANDS
from counterbc.commands.command import (
    Command,
    DeviceCommand,
    Json,
    TrainingCommand,
    agrees,
    explained_lines,
    plain_table,
)
from counterbc.commands.options import field_docs
from counterbc.printing import console
from counterbc.selection.shares import Explained, Share
from tests.fixture_types import Call, Make


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


class FakeTerminal(StringIO):
    """Text that somebody typed into a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("y\n", True), ("Yes\n", True), ("n\n", False), ("\n", False), ("", False)],
)
def test_long_work_goes_on_if_somebody_at_the_terminal_agrees(
    typed: str, answer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = FakeTerminal()
    monkeypatch.setattr("sys.stdin", FakeTerminal(typed))
    monkeypatch.setattr("sys.stderr", screen)
    assert agrees("This takes long.") is answer
    assert screen.getvalue() == "This takes long. Continue? [y/N] "


def test_nobody_is_asked_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("y\n"))
    assert not agrees("This takes long.")
    assert capsys.readouterr().err == ""


def commands_that_train() -> list[str]:
    return [name for name, command in COMMANDS.items() if issubclass(command, TrainingCommand)]


def test_every_command_that_trains_on_demonstrations_announces_long_work() -> None:
    assert set(commands_that_train()) >= {
        "train", "tune", "radius", "compare", "score", "clean", "influence", "report"
    }  # fmt: skip


@pytest.mark.parametrize("name", ["train", "tune", "radius", "compare", "score", "influence"])
def test_long_work_is_refused_without_a_terminal_and_leaves_nothing_behind(
    name: str, call: Call, long_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(long_file.parent)
    monkeypatch.setattr("counterbc.training.pace._ENOUGH", 0.0)
    monkeypatch.setattr("counterbc.training.session.LIMIT", 0.0)
    before = sorted(long_file.parent.iterdir())
    options = ("--lag", "0") if name in ("train", "tune", "compare", "score") else ()
    status, out, err = call(name, long_file, *options)
    assert (status, out) == (1, "")
    assert re.search(
        r"error: this would take about .* without a GPU; quicker: .*--.*, or a machine with a "
        r"GPU; add --yes to continue$",
        err.strip(),
    )
    assert sorted(long_file.parent.iterdir()) == before


def test_yes_continues(call: Call, demo_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo_file.parent)
    monkeypatch.setattr("counterbc.training.pace._ENOUGH", 0.0)
    monkeypatch.setattr("counterbc.training.session.LIMIT", 0.0)
    options = ("--steps", 20, "--radius", 0.4, "--lag", 0)
    status, _, err = call("train", demo_file, *options)
    assert (status, "fewer --steps or --seeds, or a machine with a GPU" in err) == (1, True)
    assert not (demo_file.parent / "run").exists(), "so that the same command works with --yes"
    assert call("train", demo_file, *options, "--yes")[0] == 0


@pytest.fixture
def long_file(make_demos: Make, tmp_path: Path) -> Path:
    """Six episodes of 20 pairs as a robomimic file."""
    make_demos(episodes=6, length=20).save(tmp_path / "demos.hdf5")
    return tmp_path / "demos.hdf5"


@pytest.mark.parametrize(("size", "rows"), [(1, 0), (3, 3), (10, 8)])
def test_the_share_of_each_action_dimension_is_shown(size: int, rows: int) -> None:
    names = tuple(f"joint {i}" for i in range(size))
    each = tuple(Share(0.5 + i / 100, 0.4, 0.6) for i in range(size))
    table = explained_lines(Explained(Share(0.55, 0.5, 0.6), each, names))[0]
    wide = console(width=100)
    with wide.capture() as text:
        wide.print(table)
    shown = [line for line in text.get().splitlines() if "… of joint" in line]
    assert [line.split("  ")[-1].strip() for line in shown] == [
        f"{50 + i} % [40, 60]" for i in range(rows)
    ]
    assert ("  … of 2 more actions with --json" in text.get()) == (size == 10)
