"""Training from the page: new policies, and continued ones."""

from __future__ import annotations

import re
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
    reports: list[dict[str, Any]] = []
    options: dict[str, Any] = {"steps": 200, "report": reports.append, "method": "bc"}
    text = train_policies(
        datasets=[tmp_path / "a.hdf5"], start=None, out=tmp_path / "runs/bc", **options
    )
    assert text == "bc, 200 steps on 40 pairs"
    shares = [report["share"] for report in reports]
    assert {report["work"] for report in reports} == {"Training"}  # too few pairs for a lag
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


def test_what_is_chosen_is_reported_before_the_training(make_demos: Make, tmp_path: Path) -> None:
    make_demos(episodes=6, length=30).save(tmp_path / "a.hdf5")
    for method, work in (("bc", "Choosing the lag for"), ("counter-bc", "Choosing Δ and lag for")):
        reports: list[dict[str, Any]] = []
        train_policies(
            datasets=[tmp_path / "a.hdf5"], method=method, steps=20, start=None,
            out=tmp_path / "runs" / method, report=reports.append,
        )  # fmt: skip
        works = [report["work"] for report in reports]
        count = works.index("Training")
        assert set(works[:count]) == {work}
        assert set(works[count:]) == {"Training"}
        shares = [report["share"] for report in reports[:count]]
        assert shares.count(0.0) >= (2 if method == "counter-bc" else 1)  # each search begins at 0
        assert any(0 < share < 1 for share in shares)
        assert reports[count]["share"] == 0.0
        assert reports[-1]["share"] == 1.0


def test_progress_is_passed_on_in_hundredths() -> None:
    reports: list[dict[str, Any]] = []
    progress = Reported(reports.append)
    for _ in range(2):  # two phases
        progress.start(0, 100_000, "torch")
        for step in range(0, 100_001, 10):
            progress.update(step, torch.zeros(1))
        progress.stop()
        assert 90 <= len(reports) <= 102
        assert reports[0]["share"] == 0.0
        assert reports[-1]["share"] > 0.98
        reports.clear()


def test_an_announcement_is_passed_on_at_once_and_stays() -> None:
    reports: list[dict[str, Any]] = []
    progress = Reported(reports.append)
    progress.start(0, 10, "torch")
    assert reports[-1]["note"] == ""
    progress.announce("Estimated time left at the present load: 3 minutes.")
    progress.update(5, torch.zeros(1))
    notes = [report["note"] for report in reports[1:]]
    assert len(notes) == 2
    for note in notes:
        assert re.fullmatch(r"\d\d:\d\d: Estimated time left .*: 3 minutes\.", note)
