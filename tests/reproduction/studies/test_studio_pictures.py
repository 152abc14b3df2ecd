"""The study and the names of the studio's pictures; drawing them all takes minutes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import counterbc as cb
from counterbc.errors import FormatError, OptionError
from counterbc.studio.stage import STAGES
from reproduction.options import DOCS
from reproduction.studies.studio_pictures import (
    DATASET,
    DRAWINGS,
    STARTS,
    StudioPicturesOptions,
    furnish,
    run,
)


def test_the_docs_show_every_picture_and_no_other() -> None:
    page = (DOCS / "studio.md").read_text(encoding="utf-8")
    assert set(re.findall(r"images/studio-([a-z]+)\.png", page)) == set(DRAWINGS)
    files = {path.stem.removeprefix("studio-") for path in (DOCS / "images").glob("studio-*.png")}
    assert files == set(DRAWINGS)


def test_every_world_is_steered() -> None:
    assert set(STARTS) == set(STAGES)


def test_the_study_has_two_operators_and_two_policies(tmp_path: Path) -> None:
    furnish(tmp_path / "study", steps=2)
    demos = cb.load(tmp_path / "study" / DATASET)
    assert demos.operators == ("Ada", "Bob")
    assert len({episode.name for episode in demos.episodes}) == len(demos.episodes) == 20
    runs = tmp_path / "study" / "runs"
    assert [cb.Policies.load(runs / m).method for m in ("bc", "counter-bc")]
    with pytest.raises(FormatError, match="exists already"):
        furnish(tmp_path / "study", steps=2)


def test_a_picture_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="form"):
        run(StudioPicturesOptions(only=("forms",), images=tmp_path))
