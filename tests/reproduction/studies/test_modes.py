"""Two right actions at the same state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reproduction.records import read, write
from reproduction.studies import modes


def test_both_intended_actions_are_demonstrated_equally_often() -> None:
    action = modes.line(0).action
    nearest = np.minimum(
        np.abs(action - modes.INTENDED_ACTION), np.abs(action + modes.INTENDED_ACTION)
    )
    assert nearest.max() <= modes.NOISE
    assert 0.4 < (action > 0).mean() < 0.6


def test_distance_far_share_and_smaller_mode_are_counted_by_seed() -> None:
    numbers = modes.measure_line(np.array([[0.6, 0.5, -0.6, 0.0]]))
    assert numbers["distance"] == pytest.approx([(0 + 0.1 + 0 + 0.6) / 4])
    assert numbers["far"] == [0.25]
    assert numbers["share"] == [0.5]


def test_one_comparison_keeps_the_other(tmp_path: Path) -> None:
    options = modes.ModesOptions(
        fork_seeds=2, steps=2, episodes=2, only="fork", device="cpu", out=tmp_path,
        figures=tmp_path / "figures",
    )  # fmt: skip
    line = {"share": [0.5, 0.4], "far": [0.1, 0.2], "distance": [0.1, 0.1]}
    path = write({"Gaussian, BC": {"line": line}}, options.numbers("modes"))
    modes.run(options)
    rows = read(path)
    assert rows["Gaussian, BC"]["line"] == line
    assert rows["mixture, BC"]["fork"].keys() == {"mean", "sample"}
    assert (tmp_path / "figures" / "fork.png").exists()
