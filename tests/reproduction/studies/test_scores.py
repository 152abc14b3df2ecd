"""Operators and episodes with known errors."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproduction.records import read
from reproduction.studies import scores


@pytest.mark.parametrize("world", ["intersection", "cartpole"])
def test_the_expected_error_is_that_of_many_noisy_demonstrations(world: str) -> None:
    demos, truth = scores.make_data(world, scores.operators(), 70, seed=0)
    expected_errors = np.array(scores.expected_errors(world, demos, truth))
    squares = ((demos.action - truth.mean) ** 2).sum(1)
    ends = np.cumsum([len(e) for e in demos.episodes])[:-1]
    mean_squares = np.array([part.mean() for part in np.split(squares, ends)])
    assert mean_squares.mean() == pytest.approx(expected_errors.mean(), rel=0.1)


def test_each_corruption_has_its_episodes() -> None:
    demos, _ = scores.make_data("intersection", scores.episodes("intersection"), 58, seed=0)
    names = [e.operator for e in demos.episodes]
    assert {name: names.count(name) for name in names} == {
        "good": 40, "σ × 1.5": 6, "late": 6, "wrong goal": 6,
    }  # fmt: skip


def test_numbers_are_kept_with_five_digits() -> None:
    assert scores._round_numbers({"a": [1.23456789, (2, "x")]}) == {"a": [1.2346, [2, "x"]]}


@pytest.mark.slow
@pytest.mark.usefixtures("few_steps")
def test_the_study_writes_all_measures_of_every_dataset(
    tmp_path: Path, check_origin: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    options = scores.ScoresOptions(seeds=2, worlds=("intersection",), device="cpu", out=tmp_path)
    scores.run(options)
    rows = read(options.numbers("scores"))
    assert [(r["seed"], r["study"]) for r in rows] == [*product((0, 1), ("operators", "episodes"))]
    for row in rows:
        assert {len(values) for values in row["measures"].values()} == {len(row["who"])}
    assert "BC residual" in capsys.readouterr().out
    check_origin(*rows)
