"""What recordings of Push-T are like."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterbc as cb
from reproduction.options import RESULTS
from reproduction.records import read
from reproduction.studies.push_t import OBS_KEYS
from reproduction.studies.push_t_evidence import PushTEvidenceOptions, autocorrelation, run


def test_errors_are_correlated_within_episodes_only() -> None:
    episode = cb.Episode(np.zeros((4, 1)), np.zeros((4, 1)))
    demos = cb.Demonstrations((episode, replace(episode, name="second")))
    off = np.array([1.0, -1, 1, -1, 1, 1, -1, -1])[:, None]
    # Lag 1: −1 −1 −1 in the first episode, 1 −1 1 in the second; the mean square is 1.
    assert autocorrelation(demos, off, 1) == pytest.approx((-3 + 1) / 6)
    assert autocorrelation(demos, off, 2) == pytest.approx((2 - 2) / 4)


@pytest.mark.slow
@pytest.mark.needs("gym_pusht")
def test_the_study_measures_recordings_and_trained_policies(
    data: Path, tmp_path: Path, check_origin: Any
) -> None:
    file = tmp_path / "demos.hdf5"
    demos = cb.load(data / "pusht_human_206.hdf5", OBS_KEYS).subset(range(4))
    demos.save(file)
    cb.train(demos, "bc", seeds=1, steps=2, progress=False, device="cpu").save(tmp_path / "bc")
    options = PushTEvidenceOptions(
        data=file, runs=(tmp_path / "bc",), steps=2, device="cpu", out=tmp_path
    )
    run(options)
    numbers = read(options.numbers("push-t-default"))
    stored = read(RESULTS / "push-t-default" / "numbers.json")
    assert set(numbers) > set(stored)
    assert 0.5 < numbers["shown"]["last"] <= numbers["shown"]["best"] <= 1
    assert set(numbers["still"][str(tmp_path / "bc")]) == {"mean", "sample"}
    check_origin(numbers)
