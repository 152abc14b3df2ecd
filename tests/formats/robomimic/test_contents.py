from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.errors import FormatError
from counterbc.formats import load, open_stream
from tests.formats.robomimic.foreign import demo, foreign


def mimic(path: Path) -> Path:
    """Two demos as Isaac Lab Mimic records them: nested groups, and success as an attribute."""
    rng = np.random.default_rng(0)
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        data.attrs["env_args"] = json.dumps({"env_name": "Isaac-Stack-Cube-v0", "type": 2})
        data.attrs["total"] = 10
        for i, success in enumerate((True, False)):
            group = data.create_group(f"demo_{i}")
            group.attrs.update(num_samples=5, success=success, seed=i)
            actions = rng.normal(size=(5, 7)).astype(np.float32)
            group["actions"] = group["processed_actions"] = actions
            group["obs/actions"] = np.vstack([np.zeros((1, 7)), actions[:-1]])
            group["obs/eef_pos"] = rng.normal(size=(5, 3))
            for part in ("object_pose/cube_1", "subtask_term_signals/grasp_1"):
                group[f"obs/datagen_info/{part}"] = np.zeros((5, 4, 4))
            group["initial_state/articulation/robot/joint_position"] = np.zeros((1, 9))
            group["states/articulation/robot/joint_position"] = np.zeros((5, 9))
    return path


def test_groups_of_isaac_lab_mimic_are_left_aside_and_listed(tmp_path: Path) -> None:
    path = mimic(tmp_path / "mimic.hdf5")
    header = open_stream(path).header
    assert header.obs_keys == (("actions", 7), ("eef_pos", 3))
    assert header.left_out == (
        "obs/datagen_info", "initial_state", "processed_actions", "states", "attribute seed",
        "digits beyond 32 bits",
    )  # fmt: skip
    with pytest.raises(FormatError, match="no obs/datagen_info; allowed: actions, eef_pos"):
        load(path, ["datagen_info"])


def test_success_of_isaac_lab_mimic_is_read_and_not_listed_as_left_out(tmp_path: Path) -> None:
    demos = load(mimic(tmp_path / "mimic.hdf5"), ["eef_pos"])
    assert [e.success for e in demos.episodes] == [True, False]
    assert not any(
        "success" in text for text in open_stream(tmp_path / "mimic.hdf5").header.left_out
    )
    assert demos.env == "Isaac-Stack-Cube-v0"


def test_attributes_that_are_read_from_any_file_are_not_listed(tmp_path: Path) -> None:
    path = foreign(tmp_path / "a.hdf5", {"demo_0": demo(dones=[0, 1])}, rate=20.0, licence="free")
    with h5py.File(path, "a") as file:
        file["data/demo_0"].attrs.update(operator="ann", name="first")
    assert open_stream(path).header.left_out == (
        "dones", "attribute licence", "attribute name", "digits beyond 32 bits",
    )  # fmt: skip
    demos = load(path)
    assert (demos.rate, demos.operators, demos.episodes[0].name) == (20, ("ann",), "demo_0")
