from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.formats import (
    load,
    minari,
)
from tests.formats.minari.foreign import (
    ACTIONS,
    foreign,
)


def write(root: Path, **fields: Any) -> tuple[list[str], dict[str, Any]]:
    rng = np.random.default_rng(0)
    episodes = tuple(
        Episode(rng.normal(size=(n, 3)), np.zeros((n, 2)), np.ones(n), success=success)
        for n, success in ((2, True), (3, False))
    )
    notes = minari.write(Demonstrations(episodes, **fields), root)
    return notes, json.loads((root / "data/metadata.json").read_text())


def test_the_layout_is_minaris(tmp_path: Path) -> None:
    low, high = np.array([-1, -2]), np.array([1, 2])
    keys = (("position", 2), ("angle", 1))
    notes, about = write(tmp_path / "door-v1", action_low=low, action_high=high, obs_keys=keys)
    assert notes == [
        "the observation after the last action is not recorded; the one before it is repeated"
    ]
    metadata_keys = ("dataset_id", "total_episodes", "total_steps", "data_format", "minari_version")
    assert [about[k] for k in metadata_keys] == ["door-v1", 2, 5, "hdf5", "0.5.0"]
    assert json.loads(about["action_space"]) == ACTIONS
    space = json.loads(about["observation_space"])
    assert list(space["subspaces"]) == ["position", "angle"]
    with h5py.File(tmp_path / "door-v1/data/main_data.hdf5") as file:
        group = file["episode_1"]
        assert dict(group.attrs) == {"id": 1, "total_steps": 3}
        assert group["observations/position"].shape == (4, 2)
        assert np.array_equal(group["observations/angle"][2], group["observations/angle"][3])
        assert group["actions"].shape == (3, 2)
        assert group["truncations"][()].tolist() == [False, False, True]
        assert group["terminations"][()].tolist() == [False, False, False]
        assert file["episode_0/terminations"][()].tolist() == [False, True]
        assert file["episode_0/infos/success"][()].tolist() == [False, False, True]


def test_a_gymnasium_specification_is_written_again(tmp_path: Path) -> None:
    demos = load(foreign(tmp_path / "made"))
    minari.write(demos, tmp_path / "again-v0")
    about = json.loads((tmp_path / "again-v0/data/metadata.json").read_text())
    assert json.loads(about["env_spec"])["id"] == "Door-v1"
    notes, about = write(tmp_path / "lift", env_args={"env_name": "Lift"})
    assert notes[1] == "the environment has no gymnasium specification; env_spec is left out"
    assert "env_spec" not in about


def test_invented_values_are_reported(tmp_path: Path) -> None:
    bare = Demonstrations((Episode(np.zeros((2, 1)), np.zeros((2, 1))),))
    assert minari.write(bare, tmp_path / "bare")[1:] == [
        "1 episodes have no reward; it is written as 0 there",
        "1 episodes have no success; they are written as truncated",
    ]
