"""Training from the page: new policies, and continued ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.errors import CounterBCError
from counterbc.studio.train_job import Reported, train_policies
from tests.fixture_types import Make


def test_a_policy_is_trained_and_then_continued_on_more_data(
    make_demos: Make, tmp_path: Path
) -> None:
    make_demos().save(tmp_path / "a.hdf5")
    make_demos(seed=1).save(tmp_path / "b.hdf5")
    shares: list[float] = []
    options: dict[str, Any] = {"steps": 200, "report": shares.append, "method": "bc"}
    text = train_policies(
        datasets=[tmp_path / "a.hdf5"], start=None, out=tmp_path / "runs/bc", **options
    )
    assert text == "bc, 200 steps on 40 pairs"
    assert shares[0] == 0.0
    assert shares[-1] == pytest.approx(1.0, abs=0.011)
    assert shares == sorted(shares)
    assert len(shares) <= 102
    both = [tmp_path / "a.hdf5", tmp_path / "b.hdf5"]
    text = train_policies(
        datasets=both, start=tmp_path / "runs/bc", out=tmp_path / "runs/more", **options
    )
    assert text == "bc, 200 steps on 80 pairs"
    first, second = (Policies.load(tmp_path / "runs" / name) for name in ("bc", "more"))
    assert second.run_config.started_from is not None
    assert any(not torch.equal(first.params[k], second.params[k]) for k in first.params)


def test_runs_of_other_sizes_are_refused(make_demos: Make, tmp_path: Path) -> None:
    make_demos().save(tmp_path / "a.hdf5")
    make_demos(action_size=1).save(tmp_path / "b.hdf5")
    options: dict[str, Any] = {"steps": 5, "report": lambda value: None, "method": "bc"}
    train_policies(datasets=[tmp_path / "a.hdf5"], start=None, out=tmp_path / "bc", **options)
    with pytest.raises(CounterBCError, match="dimensions"):
        train_policies(
            datasets=[tmp_path / "b.hdf5"], start=tmp_path / "bc", out=tmp_path / "no", **options
        )


def test_progress_is_passed_on_in_hundredths() -> None:
    shares: list[float] = []
    progress = Reported(shares.append)
    progress.start(0, 100_000, "torch")
    for step in range(0, 100_001, 10):
        progress.update(step, torch.zeros(1))
    progress.stop()
    assert 90 <= len(shares) <= 102
