"""Options that train, tune and radius share."""

from __future__ import annotations

from dataclasses import fields

import pytest

from counterbc.cli import parse
from counterbc.commands import COMMANDS
from counterbc.commands.method_command import MethodCommand
from counterbc.methods import METHODS
from counterbc.settings import PRESETS, Settings


@pytest.mark.parametrize("name", ["train", "tune", "radius"])
def test_settings_are_options_except_those_that_the_command_decides(name: str) -> None:
    command = parse([name, "demos.hdf5"])
    assert isinstance(command, MethodCommand)
    options = [f.name for f in fields(getattr(command, "settings"))]  # noqa: B009 - by complete
    assert options == [f.name for f in fields(Settings) if f.name not in command.without]
    assert set(command.without) < {f.name for f in fields(Settings)}


@pytest.mark.parametrize("name", ["train", "tune", "radius"])
def test_methods_and_presets_are_those_of_the_registries(name: str) -> None:
    choices = COMMANDS[name].option_choices()
    assert (choices["method"], choices["preset"]) == (METHODS, PRESETS)
