"""Every example in the README runs."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.cli import main
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.settings import PRESETS
from reproduction.options import RESULTS
from reproduction.records import read, read_rows
from reproduction.studies.tuned import is_later
from reproduction.studies.tuned_tables import markdown

README = (Path(__file__).parents[1] / "README.md").read_text()


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_the_lines_of_python_run_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(PRESETS, "default", replace(PRESETS["default"], steps=20, lag=0.0))
    demonstrate("intersection", UniformNoise(0.5), 60, seed=0).save("demos.hdf5")
    names: dict[str, Any] = {}
    torch.manual_seed(0)  # how its network begins
    blocks = re.findall(r"```python\n(.*?)```", README, re.S)
    for block in (*blocks, *blocks):  # somebody pastes them again
        exec(block, names)
    assert np.shape(names["returns"]) == (10, 100)
    assert np.shape(names["action"]) == (2,)
    assert len(names["policies"]) == 10
    assert float(names["loss"].detach()) < 2.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_the_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(PRESETS, "default", replace(PRESETS["default"], steps=20, lag=0.0))
    commands = re.findall(r"^    counterbc (.*?)(?:\s+#.*)?$", README, re.M)
    assert len(commands) == 12
    for command in (*commands, *commands[:6]):  # the first snippet runs a second time
        assert main(shlex.split(command)) == 0, command
    names = {"demos.hdf5", "run", "run.onnx", "demos-2.hdf5", "run-2", "run-2.onnx", "report.html"}
    names |= {"typical.hdf5", "ten", "film.gif", "tuning.png", "demos-lerobot"}
    assert {p.name for p in tmp_path.iterdir()} == names


def test_the_numbers_of_the_first_picture_are_those_on_file() -> None:
    errors = read(RESULTS / "idea" / "numbers.json")["rms"]
    words = " ".join(README.split())
    bc, counter_bc = (f"{errors[f'{m}, deterministic']:.2f}" for m in ("bc", "counter-bc"))
    assert f"without sampling it is {bc} for BC and {counter_bc} for Counter-BC" in words


def test_how_seldom_tuned_counter_bc_differs_from_tuned_bc_is_what_rows_say() -> None:
    rows = [r for r in read_rows(RESULTS / "tuned") if not is_later(r)]
    lines = [line.split("|") for line in markdown(rows).splitlines()[2:]]
    percents = [float(line[-3].split()[0]) for line in lines if float(line[-2]) < 0.05]
    assert len(lines) == 102
    assert [round(x, 1 if x < 10 else 0) for x in percents] == [19.0, 0.7]
    words = " ".join(README.split())
    assert "Of 102 comparisons it is significantly above in two and below in none" in words
    assert "in 2 of 102 comparisons, by 0.7 % and, in air hockey, by 19 %" in words
