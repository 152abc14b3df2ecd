from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import FormatError
from counterbc.formats import (
    load,
)
from counterbc.formats.robomimic import writer as robomimic_writer
from tests.formats.datasets import assert_same, small

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.AbsentEpisodes")


def test_the_layout_is_robomimics(tmp_path: Path) -> None:
    small().save(tmp_path / "demos.hdf5")
    with h5py.File(tmp_path / "demos.hdf5") as file:
        data = file["data"]
        assert data.attrs["total"] == 5
        assert json.loads(data.attrs["env_args"]) == small().env_args
        assert list(data) == ["demo_0", "demo_1"]
        assert data["demo_0"].attrs["num_samples"] == 3
        assert data["demo_0/actions"].shape == (3, 2)
        assert data["demo_0/rewards"].shape == (3,)
        assert data["demo_0/dones"][()].tolist() == [0, 0, 1]
        assert {k: v.shape for k, v in data["demo_0/obs"].items()} == {
            "angle": (3, 1),
            "position": (3, 2),
        }
        assert file["mask/train"][()].tolist() == [b"demo_1", b"demo_0"]


@pytest.mark.parametrize("stage", ["data", "rename"])
@pytest.mark.parametrize(
    ("failure", "seen"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(28, "No space left on device"), FormatError),
    ],
)
def test_an_interrupted_write_leaves_nothing_behind(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stage: str,
    failure: BaseException,
    seen: type[BaseException],
) -> None:
    def fail(*_: object) -> None:
        assert os.listdir(tmp_path) != []
        raise failure

    if stage == "data":
        monkeypatch.setattr(robomimic_writer, "_write_demo", fail)
    else:
        monkeypatch.setattr("counterbc.files._move", fail)
    with pytest.raises(seen):
        small().save(tmp_path / "demos.hdf5")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"masks": {"a": ("demo\0",)}},
        {"masks": {"a\0": ()}},
        {"obs_keys": (("a/b", 3),)},
        {"env_args": {"space": object()}},
        {
            "episodes": (Episode(np.zeros((3, 3)), np.zeros((3, 2)), operator="a\0"),),
            "masks": {},
            "selected": None,
        },
    ],
)
def test_names_that_hdf5_cannot_hold_are_refused(tmp_path: Path, fields: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match="rename"):
        small(**fields).save(tmp_path / "demos.hdf5")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("mask", ["task: red/blue", "", ".", "..", "a/b/../c"])
def test_masks_of_any_name_read_back(mask: str, tmp_path: Path, tiny: Demonstrations) -> None:
    masks = {mask: (tiny.episodes[0].name,), "other": ()}
    replace(tiny, masks=masks).save(tmp_path / "d.hdf5")
    assert load(tmp_path / "d.hdf5").masks == masks
    with h5py.File(tmp_path / "d.hdf5") as file:
        assert len(file["mask"]) == 2


def test_names_and_order_survive_names_that_robomimic_cannot_read(
    tmp_path: Path,
) -> None:
    episodes = [replace(e, name=n) for e, n in zip(small().episodes, ("b/ü", "a"), strict=True)]
    masks = {"first": ("b/ü",), "absent": ("demo_0", "demo_1")}
    demos = replace(small(), episodes=tuple(episodes), masks=masks)
    demos.save(tmp_path / "names.hdf5")
    assert_same(demos, load(tmp_path / "names.hdf5"))
    with h5py.File(tmp_path / "names.hdf5") as file:
        assert list(file["data"]) == ["demo_2", "demo_3"]
        assert file["mask/first"][()].tolist() == [b"demo_2"]
