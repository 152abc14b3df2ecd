"""The ways of acting."""

from __future__ import annotations

import subprocess
import sys

import pytest
import tyro

from counterbc.acting.act import ACTS
from counterbc.commands.evaluate import EvaluateCommand
from counterbc.commands.export import Export
from counterbc.experiments.method_figures import ACT_TITLES


def test_every_way_of_acting_has_a_title_and_is_an_option(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert tuple(ACT_TITLES) == ACTS
    for command in (EvaluateCommand, Export):
        with pytest.raises(SystemExit):
            tyro.cli(command.complete(), args=("--help",))
        assert f"--act {{{','.join(ACTS)}}}" in capsys.readouterr().out


def test_the_ways_of_acting_are_known_without_torch() -> None:
    code = "import sys, counterbc.acting.act; print('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "False\n"
