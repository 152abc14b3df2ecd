"""Δ from the data against fixed radii: what the numbers on file are made of."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterbc
from counterbc.cli import main
from counterbc.demonstrators import GaussianNoise, demonstrate
from counterbc.settings import PRESETS
from reproduction.options import DOCS
from reproduction.records import read
from reproduction.studies import radius

PAGE = (DOCS / "radius.md").read_text(encoding="utf-8")


def test_the_commands_and_the_python_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(PRESETS, "default", replace(PRESETS["default"], steps=5))
    page = PAGE.replace("10000", "5").replace("10_000", "5")
    demos = demonstrate("cartpole", GaussianNoise(0.05), 60, seed=0)
    demos.save("demos.hdf5")
    commands = re.findall(r"^    counterbc (.*)$", page, re.M)
    assert len(commands) == 3
    for command in commands:
        assert main(command.split()) == 0, command
    assert {p.name for p in tmp_path.iterdir()} == {"demos.hdf5", "radius.png", "run"}
    names: dict[str, Any] = {"cb": counterbc, "demos": demos}
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(block, names)
    assert names["policies"].config["radius_from"] == "cross-validation"
    assert names["choice"].radius == names["policies"].members[0].radius[0]


def test_the_best_fixed_radius_of_a_run_is_picked_on_other_runs() -> None:
    fixed = np.array([[9.0, 1, 0, 1], [0, 5, 3, 6]])  # two radii, runs 0 and 2 against 1 and 3
    np.testing.assert_array_equal(radius.best_elsewhere(fixed), [0, 1, 3, 1])


def row(auto: list[float], bc: list[float]) -> dict[str, Any]:
    fixed = {f"{r:g}": [9.0, 9.5, 10.0, 9.5] for r in radius.RADII} | {"0": bc}
    about = {"world": "w", "teacher": "t", "pairs": 1, "seeds": 4, "chosen": [0.4] * 4}
    curves = {"curves": [[9, 8, 7, 6, 5, 6, 7, 8, 9]] * 4, "plateaus": [[0.3, 0.4]] * 4}
    return about | curves | {"fixed": fixed, "auto": auto}


def test_a_cell_clearly_below_bc_is_marked_and_counted() -> None:
    lower, equal = [5.0, 5.1, 5.2, 5.1], [9.0, 9.6, 10.0, 9.4]
    text = radius.markdown([row(lower, [9.0, 9.5, 9.9, 9.4]), row(equal, equal)])
    first, second = text.splitlines()[2:4]
    assert "5.10 ± 0.04 ▼" in first
    assert "▼" not in second
    assert text.endswith("5 %): 1.")
    assert f"at worst {100 * (9.5 - 5.1) / 9.5:.1f} %" in text


def test_other_rules_read_the_same_curves() -> None:
    text = radius.rules([row([9.0] * 4, [9.0, 9.5, 10.0, 9.5])])
    radii = [float(line.split("|")[2]) for line in text.splitlines()[2:]]
    assert radii == [0.4, 0.4, 0.3, 0.4, 0.35]


def test_a_finished_cell_is_not_computed_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = radius.RadiusOptions(
        seeds=2, steps=2, worlds=("intersection",), pairs=(40,), device="cpu",
        teachers=("uniform σ 0.5",), out=tmp_path,
    )  # fmt: skip
    radius.run(options)
    path = options.numbers("radius")
    (first,) = read(path)
    assert np.shape(first["curves"]) == (2, 9)
    before = path.stat().st_mtime_ns
    radius.run(options)
    assert path.stat().st_mtime_ns == before
    assert "uniform σ 0.5" in capsys.readouterr().out
