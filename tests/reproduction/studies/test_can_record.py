"""Recordings of Can's operators."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from counterbc import load
from reproduction.records import read
from reproduction.studies import can_record


def test_a_recorded_episode_is_kept_and_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, int]] = []

    def perform(name: str, number: int) -> Any:
        calls.append((name, number))
        return SimpleNamespace(obs=np.full((3, 2), number), action=np.zeros((3, 1)))

    monkeypatch.setattr(can_record, "perform", perform)
    files = can_record.record_block("somebody", range(2), tmp_path)
    assert can_record.record_block("somebody", range(2), tmp_path) == files
    assert calls == [("somebody", 0), ("somebody", 1)]
    episode = can_record.read_episode(files[1], "somebody")
    assert episode.obs[0].tolist() == [1, 1]
    assert episode.reward is not None
    assert episode.reward.tolist() == [0, 0, 1]


@pytest.mark.extra("robosuite")
def test_the_study_writes_demonstrations_and_a_summary(tmp_path: Path, check_origin: Any) -> None:
    options = can_record.CanRecordOptions(out=tmp_path / "can.hdf5", each=1, workers=2)
    can_record.run(options)
    demos, rows = load(options.out), read(tmp_path / "can.json")
    assert len(demos.operators) == len(demos) == 6
    assert rows[-1]["pairs"] == demos.pairs == sum(r["pairs"] for r in rows[:-1])
    check_origin(*rows)
