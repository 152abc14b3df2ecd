"""On a full disk a command explains itself and leaves nothing, or what it resumes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from attack.part import Finding
from attack.parts import disks
from attack.processes import Ending


def test_every_command_that_writes_is_tried_at_five_levels() -> None:
    keys = disks.cases(1, 0)
    assert len(keys) == len(set(keys)) >= 5 * 15
    assert not any(key.startswith("inspect") for key in keys)


@pytest.mark.parametrize(
    ("ending", "files", "outcome"),
    [
        (Ending(2, "error: x"), [], "wrong exit status"),
        (Ending(1, "no space"), [], "bad message"),
        (Ending(1, "error: the disk is full"), ["c.npz"], "leftovers"),
        (Ending(1, "error: the disk is full"), ["study/.x.12345678/x"], "leftovers"),
    ],
)
def test_other_endings_are_findings(ending: Ending, files: list[str], outcome: str) -> None:
    with pytest.raises(Finding) as info:
        disks._check("x", ending, files)
    assert info.value.outcome == outcome


def test_success_and_a_state_to_resume_from_are_none() -> None:
    disks._check("x", Ending(0, ""), ["c.npz"])
    disks._check("x", Ending(1, "error: full"), ["run/config.json", "study/cells/a.parquet"])


def test_a_limit_on_files_is_not_taken_for_a_small_disk(tmp_path: Path) -> None:
    disks._fill(tmp_path, 3)
    assert list(tmp_path.iterdir()) == []
