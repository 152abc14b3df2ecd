"""Observation and action are chosen by name in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import FormatError
from counterbc.formats import FORMATS, lerobot, load, minari, robomimic

OBS, ACTION = np.arange(6.0).reshape(3, 2), np.array([[0.5], [1], [2]])


def write_other_names(kind: str, path: Path) -> Path:
    """Three pairs whose observation is `pose` and `goal`, and whose action is `v` and `w`."""
    pose, goal, v, w = OBS, 10 * OBS[:, :1], ACTION, 2 * ACTION
    columns = {"pose": pose, "goal": goal, "v": v, "w": w}
    if kind == "robomimic":
        with h5py.File(path, "w") as file:
            demo = {"obs/pose": pose, "obs/goal": goal, "actions": 0 * v, "v": v, "w": w}
            file.create_group("data/demo_0").update(demo)
    elif kind == "d4rl":
        with h5py.File(path, "w") as file:
            file.update(columns | {"terminals": [0, 0, 1]})
    elif kind == "npz":
        np.savez(path.with_suffix(".npz"), allow_pickle=False, **columns)
        return path.with_suffix(".npz")
    elif kind == "lerobot":
        lerobot.write(Demonstrations((Episode(pose, v),), rate=10.0), path)
        (path / "meta/counterbc.json").unlink()
        about = json.loads((path / "meta/info.json").read_text())
        old = about["features"]
        about["features"] = {n: old[n] for n in ("episode_index", "index")} | {
            name: {"dtype": "float32", "shape": [values.shape[1]], "names": None}
            for name, values in columns.items()
        }
        (path / "meta/info.json").write_text(json.dumps(about))
        file = path / "data/chunk-000/file-000.parquet"
        table = pq.read_table(file).select(["episode_index", "index"])
        for name, values in columns.items():
            cells = values.tolist() if values.shape[1] > 1 else values[:, 0]
            table = table.append_column(name, pa.array(cells))
        pq.write_table(table, file)
    elif kind == "minari":
        minari.write(Demonstrations((Episode(pose, v),), obs_keys=(("pose", 2),)), path)
        about = json.loads((path / "data/metadata.json").read_text())
        spaces = {n: minari_box(x.shape[1]) for n, x in columns.items()}
        for section, names in (("observation", ("pose", "goal")), ("action", ("v", "w"))):
            parts = {name: spaces[name] for name in names}
            space = {"type": "Dict", "subspaces": parts}
            about[f"{section}_space"] = json.dumps(space)
        del about["counterbc"]
        (path / "data/metadata.json").write_text(json.dumps(about))
        with h5py.File(path / "data/main_data.hdf5", "a") as file:
            group = file["episode_0"]
            del group["observations"], group["actions"]
            for n in ("pose", "goal"):
                group[f"observations/{n}"] = np.pad(columns[n], ((0, 1), (0, 0)))
            group.update({f"actions/{n}": columns[n] for n in ("v", "w")})
    else:
        rows = np.column_stack([pose, goal, v, w])
        header = "pose_x,pose_y,goal,v,w"
        np.savetxt(path, rows, delimiter=",", header=header, comments="")
    return path


def minari_box(width: int) -> dict[str, Any]:
    return {"type": "Box", "dtype": "float64", "shape": [width], "low": [-9.0] * width,
            "high": [9.0] * width}  # fmt: skip


@pytest.mark.parametrize("kind", FORMATS)
def test_keys_of_observation_and_action_are_chosen_by_name_in_every_format(
    kind: str, tmp_path: Path
) -> None:
    path = write_other_names(kind, tmp_path / "demos")
    pose = ["pose_x", "pose_y"] if kind == "csv" else ["pose"]
    demos = load(path, ["goal", *pose], action=["w", "v"], format=kind)
    assert demos.obs.tolist() == [[0, 0, 1], [20, 2, 3], [40, 4, 5]]
    assert demos.action.tolist() == [[1, 0.5], [2, 1], [4, 2]]
    assert demos.obs_keys[0] == ("goal", 1)
    assert len(demos.action_names) == 2
    for obs, action in ((["goa"], ["v"]), (["goal"], ["nothing"])):
        with pytest.raises(FormatError, match=r"goal|\bv\b"):  # the refusal says what there is
            load(path, obs, action=action, format=kind)


def test_bounds_and_names_of_a_file_do_not_hold_for_an_action_that_is_chosen(
    tmp_path: Path,
) -> None:
    episode = Episode(OBS, ACTION / 2)
    demos = Demonstrations((episode,), action_low=[-1.0], action_high=[1.0])  # type: ignore[arg-type]
    robomimic.write(demos, path := tmp_path / "demos.hdf5")
    with h5py.File(path, "a") as file:
        file["data/demo_0/actions_abs"] = np.column_stack([ACTION, ACTION])
    assert load(path).action_low is not None
    chosen = load(path, action=["actions_abs"])
    assert chosen.action_low is None
    assert chosen.action_names == ("actions_abs[0]", "actions_abs[1]")
    assert load(path, action=["actions"]).action_high == [1]
