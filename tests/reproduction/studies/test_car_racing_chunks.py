"""The study of chunks in Car Racing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reproduction.records import read
from reproduction.studies import car_racing_chunks
from reproduction.studies.car_racing_chunks import CHOICE, CarRacingChunksOptions, record


@pytest.mark.slow
@pytest.mark.needs("envpool")
def test_a_tiny_study_reads_frames_in_every_variant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(car_racing_chunks, "CHOICE", replace(CHOICE, steps=(1,)))
    options = CarRacingChunksOptions(
        out=tmp_path, pairs=40, seeds=1, episodes=1, choice_seeds=1, choice_episodes=1, device="cpu"
    )
    try:
        car_racing_chunks.run(options)
    finally:
        record.cache_clear()
    rows = read(tmp_path / "car-racing-chunks" / "rows.json")
    assert [r["variant"] for r in rows if r["phase"] == "report"] == list(CHOICE.variants)
    assert all(0 <= r["score"] <= 1 for r in rows)
