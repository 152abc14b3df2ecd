"""The study of chunks on Can."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from counterbc.data.episode import Episode
from reproduction.records import read
from reproduction.studies import can_chunks, can_record
from reproduction.studies.can_chunks import CHOICE, CanChunksOptions, demonstrations
from reproduction.studies.can_file import BLOCKS, join
from tests.fixture_types import Make


@pytest.fixture
def file(make_demos: Make, tmp_path: Path) -> Path:
    """One made-up episode of each operator, with the numbers of Can."""
    demos = make_demos(episodes=len(BLOCKS), length=5, obs_size=23, action_size=7)
    names = [f"synthetic_{block}" for block in BLOCKS]
    episodes: dict[str, list[Episode]] = {
        name: [replace(episode, operator=name)]
        for name, episode in zip(names, demos.episodes, strict=True)
    }
    join(episodes).save(tmp_path / "can.hdf5")
    return tmp_path / "can.hdf5"


def test_policies_learn_from_the_two_worse_operators(file: Path) -> None:
    operators = {episode.operator for episode in demonstrations(file).episodes}
    assert operators == {"synthetic_worse_1", "synthetic_worse_2"}


@pytest.mark.slow
@pytest.mark.extra("robosuite")
def test_a_tiny_study_writes_the_rows_of_its_variants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    can_record.run(can_record.CanRecordOptions(out=tmp_path / "can.hdf5", each=1))
    monkeypatch.setattr(can_chunks, "CHOICE", replace(CHOICE, steps=(1,)))
    variants = ("chunk, squared error", "chunk of the Gaussian")
    options = CanChunksOptions(
        data=tmp_path / "can.hdf5", out=tmp_path, seeds=1, episodes=1, choice_seeds=1,
        choice_episodes=1, device="cpu", variants=variants,
    )  # fmt: skip
    can_chunks.run(options)
    rows = read(tmp_path / "can-chunks" / "rows.json")
    assert [r["variant"] for r in rows if r["phase"] == "report"] == list(variants)
    assert all(r["length"] == 500 and r["score"] == 0 for r in rows)
