"""The predictions behind Look."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterbc.diagnosis.meaning import meaning
from counterbc.errors import OptionError
from counterbc.selection.held_out import HeldOut
from counterbc.studio import held_out_job
from counterbc.studio.held_out_job import predict_held_out
from tests.fixture_types import Make


def test_the_predictions_are_those_of_the_library(
    make_demos: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = HeldOut(repeats=2, rounds=1, steps=30)
    monkeypatch.setattr(held_out_job, "HELD_OUT", quick)
    demos = make_demos(episodes=8)
    demos.save(tmp_path / "a.hdf5")
    reports: list[str] = []
    result = predict_held_out(tmp_path / "a.hdf5", 0.0, 0.3, reports.append)
    reference = meaning(demos, radius=0.2, held_out=quick, lag=0, device="cpu", progress=False)
    np.testing.assert_allclose(result.predictions, reference.predictions, rtol=1e-6)
    assert [s["name"] for s in result.scores] == [e.name for e in demos.episodes]
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
    assert reports == ["scores"]


def test_image_data_are_referred_to_the_command_line(make_demos: Make, tmp_path: Path) -> None:
    from counterbc.data.demonstrations import Demonstrations
    from counterbc.data.episode import Episode

    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (6, 8, 8, 3)).astype(np.uint8)
    Demonstrations((Episode(images, rng.uniform(size=(6, 1))),)).save(tmp_path / "i.npz")
    with pytest.raises(OptionError, match="counterbc score"):
        predict_held_out(tmp_path / "i.npz", 0.0, 0.3, lambda value: None)
