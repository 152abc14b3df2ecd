"""Options that train, tune and radius share."""

from __future__ import annotations

from dataclasses import fields

import pytest

from counterbc.cli import parse
from counterbc.commands import COMMANDS
from counterbc.commands.method_command import MethodCommand
from counterbc.methods import METHODS
from counterbc.settings import PRESETS, Settings
from tests.fixture_types import Call, CheckRefused


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


@pytest.mark.parametrize("name", ["train", "tune", "radius"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--method", "dagger"), "unknown method 'dagger'"),
        (("--preset", "ours"), "unknown preset 'ours'"),
        (("--device", "tpu"), "device"),
        (("--batch", 0), "batch is 0; it must be an integer of 1 or more"),
        (("--policy", "transformer"), "policy is 'transformer'"),
        (("--modes", 3), "modes is 3, but a GaussianMLP has one; choose the policy mixture"),
    ],
)
def test_wrong_settings_are_refused_before_the_demonstrations_are_read(
    name: str, options: tuple[object, ...], words: str, check_refused: CheckRefused
) -> None:
    check_refused(name, options, words)


def test_a_run_to_continue_is_refused_before_the_demonstrations_are_read(call: Call) -> None:
    _, _, err = call("train", "no-such-file.hdf5", "--start", "no-such-run")
    assert "no-such-run" in err
    assert "no-such-file" not in err
