"""One training with policies after several numbers of steps."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.training import snapshots
from counterbc.training.progress import Quiet
from counterbc.training.session import Session, use_session
from counterbc.training.snapshots import run_snapshots
from tests.equality import same
from tests.training.test_kept import count_steps, plan_of


def test_a_finished_population_is_read_instead_of_trained_again(
    tiny: Demonstrations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "_WORTH_KEEPING", 0.0)
    plan, step_count = plan_of(tiny, hidden=(8, 8)), count_steps(monkeypatch)
    with use_session(Session(kept=tmp_path / "x")):
        first, second = (
            run_snapshots(plan, (7, 20), device=torch.device("cpu"), progress=Quiet())
            for _ in range(2)
        )
    assert step_count[0] == 20
    for a, b in zip(first, second, strict=True):
        assert same(a, b)
