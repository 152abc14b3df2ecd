"""Cleaned demonstrations against the intended actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterbc as cb
from counterbc.demonstrators import UniformNoise
from reproduction.records import read
from reproduction.studies import clean


def test_the_expert_s_mean_is_what_cartpole_s_expert_does() -> None:
    demos = cb.demonstrate("cartpole", UniformNoise(0.0), 30, seed=0)
    np.testing.assert_allclose(clean.expert_mean("cartpole", demos), demos.action, atol=1e-6)


def test_the_gain_is_a_share_of_counter_bc_s() -> None:
    returns = {"BC": 10.0, "Counter-BC": 14.0, "BC on cleaned": 12.0}
    rows = [
        {"world": "fork", "returns": {f"{k}, mean": v + seed for k, v in returns.items()}}
        for seed in range(3)
    ]
    text = clean._gain(rows, "mean")
    assert "above BC by 2.00" in text
    assert "50 % [50, 50] (bootstrap of seeds) of Counter-BC's gain, 4.00" in text


def test_distances_are_lowered_by_a_share_of_the_demonstrations() -> None:
    distances = {"BC": 0.4, "BC on cleaned": 0.1}
    rows = [{"distance": distances, "first steps": distances}] * 2
    assert clean._distances(rows, "Counter-BC") == ("0.400", "–", "0.400")
    distance, lower, _ = clean._distances(rows, "BC on cleaned")
    assert (distance, lower[:5]) == ("0.100", "75.00")
    assert clean._rms(np.array([[3.0, 4.0]])) == pytest.approx(np.sqrt(12.5))


@pytest.mark.filterwarnings("ignore::counterbc.errors.CannotTell")  # few steps explain little
@pytest.mark.usefixtures("few_steps")
def test_the_study_writes_a_row_per_seed_with_all_learners(
    tmp_path: Path, check_origin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clean, "PAIRS", 40)
    options = clean.CleanOptions(seeds=2, worlds=("intersection",), device="cpu", out=tmp_path)
    clean.run(options)
    rows = read(options.numbers("clean"))
    assert [(r["world"], r["seed"]) for r in rows] == [("intersection", 0), ("intersection", 1)]
    names = {f"{name}, {act}" for name in clean.LEARNERS for act in ("mean", "sample")}
    assert all(set(r["returns"]) == names for r in rows)
    assert all(r["distance"]["BC on cleaned"] != r["distance"]["BC"] for r in rows)
    check_origin(*rows)
