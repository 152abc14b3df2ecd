"""The predictions behind Look."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterbc.diagnosis.meaning import meaning
from counterbc.selection.held_out import HeldOut
from counterbc.studio import held_out_job
from counterbc.studio.held_out_job import HeldOutResult, estimated_seconds, predict_held_out
from tests.fixture_types import Make


def test_the_predictions_are_those_of_the_library(
    make_demos: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = HeldOut(repeats=2, rounds=1, steps=30)
    monkeypatch.setattr(held_out_job, "HELD_OUT", quick)
    demos = make_demos(episodes=8)
    demos.save(tmp_path / "a.hdf5")
    results: list[HeldOutResult] = []
    names = [e.name for e in demos.episodes]
    source = (tmp_path / "a.hdf5", "robomimic", None, names)
    predict_held_out(source, [0, 2], 0.3, results.append)
    assert [result.lag for result in results] == [0, 2]
    for result in results:
        reference = meaning(
            demos, radius=0.2, held_out=quick, lag=result.lag, device="cpu", progress=False
        )
        np.testing.assert_allclose(result.predictions, reference.predictions, rtol=1e-6)
    result = results[0]
    assert [s["name"] for s in result.scores] == names
    assert [s["name"] for s in result.operators] == ["ada", "bob"]
    assert result.mean is not None
    assert result.std is not None
    assert result.mean.shape == result.std.shape == demos.action.shape
    assert (result.std > 0).all()
    # The policy has learned the actions: its mean explains most of them.
    low, high = -1.0, 1.0
    assert demos.action.min() > low - 0.5
    assert demos.action.max() < high + 0.5
    assert np.corrcoef(result.mean[:, 0], demos.action[:, 0])[0, 1] > 0.8


def test_the_estimate_grows_with_pairs_and_numbers(make_demos: Make) -> None:
    small, long, wide = make_demos(), make_demos(episodes=40), make_demos(action_size=20)
    assert estimated_seconds(small) < estimated_seconds(long)
    assert estimated_seconds(small) < estimated_seconds(wide)
