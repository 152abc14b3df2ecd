"""Every example in the README runs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.cli import main
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.settings import PRESETS

README = (Path(__file__).parents[1] / "README.md").read_text()


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_the_lines_of_python_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(PRESETS, "default", replace(PRESETS["default"], steps=20, lag=0.0))
    demonstrate("intersection", UniformNoise(0.5), 60, seed=0).save("demos.hdf5")
    names: dict[str, Any] = {}
    torch.manual_seed(0)  # how its network begins
    for block in re.findall(r"```python\n(.*?)```", README, re.S):
        exec(block, names)
    assert np.shape(names["returns"]) == (10, 100)
    assert np.shape(names["action"]) == (2,)
    assert len(names["policies"]) == 10
    assert float(names["loss"].detach()) < 2.0


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_the_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(PRESETS, "default", replace(PRESETS["default"], steps=20, lag=0.0))
    commands = re.findall(r"^    counterbc (.*?)(?:\s+#.*)?$", README, re.M)
    assert len(commands) == 9
    for command in sorted(commands, key=lambda c: not c.startswith("demonstrate")):
        assert main(command.split()) == 0, command
    made_files = {"demos.hdf5", "typical.hdf5", "run", "film.gif", "policy.onnx", "demos-lerobot"}
    assert {p.name for p in tmp_path.iterdir()} == made_files | {"report.html", "tuning.png"}
