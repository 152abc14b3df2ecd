"""Two right actions at the same state."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

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


@pytest.mark.slow
def test_one_comparison_keeps_the_other(tmp_path: Path, check_origin: Any) -> None:
    options = modes.ModesOptions(
        fork_seeds=2, steps=2, episodes=2, only="fork", device="cpu", out=tmp_path,
        figures=tmp_path / "figures",
    )  # fmt: skip
    line = {"share": [0.5, 0.4], "far": [0.1, 0.2], "distance": [0.1, 0.1]}
    path = write({"Gaussian, BC": {"line": line}}, options.numbers("modes"))
    modes.run(options)
    rows = read(path)
    assert rows["Gaussian, BC"]["line"] == line
    assert rows["mixture, BC"]["fork"].keys() >= {"mean", "sample"}
    check_origin(*(rows[case]["fork"] for case in modes.CASES), trained=True)
    assert (tmp_path / "figures" / "fork.png").exists()


@pytest.mark.filterwarnings("ignore::counterbc.selection.radius.DoubtfulRadius")
def test_a_line_resumes_after_the_last_seed(
    tmp_path: Path, check_origin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modes, "PAIRS", 40)
    options = modes.ModesOptions(
        seeds=2, steps=2, only="line", device="cpu", out=tmp_path, figures=tmp_path / "figures"
    )
    modes.run(options)
    rows = read(options.numbers("modes"))
    assert all(len(rows[case]["line"]["distance"]) == 2 for case in modes.ON_LINE)
    check_origin(*(row["line"] for row in rows.values()), trained=True)
    modes.run(replace(options, seeds=3))
    again = read(options.numbers("modes"))[modes.AUTO]["line"]
    assert len(again["radius"]) == 3
    assert again["radius"][:2] == rows[modes.AUTO]["line"]["radius"]
