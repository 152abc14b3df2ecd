"""Held-out predictions do not learn from outliers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.diagnosis.meaning import Meaning, meaning
from counterbc.diagnosis.predictions import _averaged
from counterbc.selection.held_out import HeldOut
from tests.fixture_types import Make

SMALL: dict[str, Any] = {"progress": False, "hidden": (16,), "steps": 200}


def _meaning(demos: Demonstrations, **options: Any) -> Meaning:
    held_out = HeldOut(folds=3, repeats=options.pop("repeats", 1), seed=options.pop("seed", 0))
    return meaning(demos, **(SMALL | {"held_out": held_out, "radius": 0.4} | options))


def test_later_rounds_do_not_learn_from_outliers_of_earlier_rounds(make_demos: Make) -> None:
    demos = make_demos(episodes=12, noise=0.05)
    wild = [
        replace(e, action=-e.action) if i in (2, 7) else e for i, e in enumerate(demos.episodes)
    ]
    mixture = replace(demos, episodes=tuple(wild))
    once, twice = (
        _meaning(mixture, held_out=HeldOut(folds=3, repeats=1, rounds=r), steps=1000)
        for r in (1, 3)
    )
    usual_pairs = np.setdiff1d(np.arange(120), [*range(20, 30), *range(70, 80)])
    error = [np.abs(m.predicted - demos.action)[usual_pairs].mean() for m in (once, twice)]
    assert error[1] < error[0]
    far = [m.episodes[2].distance + m.episodes[7].distance for m in (once, twice)]
    assert far[1] > far[0]


def test_numbers_are_averaged_with_their_neighbours_of_the_same_episode() -> None:
    rng = np.random.default_rng(0)
    lengths = np.array([1, 7, 2, 1, 5])
    values = rng.normal(size=lengths.sum())
    box, expected = np.full(5, 0.2), []
    for part in np.split(values, np.cumsum(lengths)[:-1]):
        expected.append(np.convolve(np.pad(part, 2, mode="edge"), box, mode="valid"))
    np.testing.assert_array_equal(_averaged(values, lengths), np.concatenate(expected))
    assert _averaged(np.array([3.0]), np.array([1])) == pytest.approx(3.0)
