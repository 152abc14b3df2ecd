"""Minari's HDF5 layout, as Minari's own storage writes it; extras go to metadata.json."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.demonstrations import Demonstrations
from counterbc.episode import Array
from counterbc.files import aside, check_free
from counterbc.formats import extras, json_files
from counterbc.formats.minari_spaces import box
from counterbc.formats.stream import Header, Recording, Stream

_ID = re.compile(r"[-_\w]+-v\d+", re.ASCII)
_PLAIN = re.compile(r"\w[\w.\- ]*")
_VERSION = "0.5.0"  # the first with this layout; later ones read it
_IMAGE_VERSION = "0.5.4"  # the first that is told not to expect JPEG


def write(data: Demonstrations | Stream, path: str | Path) -> list[str]:
    """Write a dataset that `read` gives back unchanged; returns what Minari will not see of it."""
    path = Path(path)
    check_free(path)
    passing = Stream.of(data).checked()
    about: list[dict[str, Any]] = []
    steps = 0
    with aside(path) as temporary:
        folder = temporary / "data"
        folder.mkdir(parents=True)
        names = _names(passing.header)
        shapes: tuple[Any, ...] = ()
        try:
            with h5py.File(folder / "main_data.hdf5", "x", track_order=True) as file:
                for i, recording in enumerate(passing.recordings):
                    _write_episode(
                        file.create_group(f"episode_{i}"), recording, passing.header, names
                    )
                    about.append(extras.about(recording, reward_held=True))
                    steps += len(recording.action)
                    shapes = recording.obs.shape[1:], recording.action.shape[1]
        except RuntimeError as error:  # how h5py reports a disk that fills up while it closes
            raise OSError(str(error)) from error
        size = (folder / "main_data.hdf5").stat().st_size
        metadata = {
            "dataset_id": path.name if _ID.fullmatch(path.name) else "demonstrations-v0",
            "total_episodes": len(about),
            "total_steps": steps,
            "dataset_size": round(size / 1e6, 1),
            **_described(passing.header, names, *shapes),
            "counterbc": extras.of(passing.header, about) | {"env_args": passing.header.env_args},
        }
        json_files.dump(metadata, folder / "metadata.json")
    return _unseen(passing.header, about)


def _names(header: Header) -> list[str]:
    """What each key is called in the file: its own name where HDF5 and Python can hold it."""
    keys = [key for key, _ in header.obs_keys]
    plain = all(_PLAIN.fullmatch(k) for k in keys)
    return keys if plain else [f"part_{i}" for i in range(len(keys))]


def _described(
    header: Header, names: list[str], obs_shape: tuple[int, ...], action_size: int
) -> dict[str, Any]:
    """Data format, spaces and environment."""
    image = len(obs_shape) > 1
    parts = [box([width], -np.inf, np.inf) for _, width in header.obs_keys]
    observation = box(obs_shape, 0, 255, "uint8") if image else parts[0]
    if len(parts) > 1:
        observation = {"type": "Dict", "subspaces": dict(zip(names, parts, strict=True))}
    low = -np.inf if header.action_low is None else header.action_low
    high = np.inf if header.action_high is None else header.action_high
    spec = header.env_args.get("env_spec")
    return {
        "data_format": "hdf5",
        "jpeg_encoding": False,  # which would lose detail
        "observation_space": json.dumps(observation),
        "action_space": json.dumps(box([action_size], low, high)),
        **({"env_spec": spec} if isinstance(spec, str) else {}),
        "minari_version": _IMAGE_VERSION if image else _VERSION,
    }


def _write_episode(
    group: h5py.Group, recording: Recording, header: Header, names: list[str]
) -> None:
    length = len(recording.action)
    last = np.arange(length) == length - 1
    group.attrs["id"] = int(group.name.rsplit("_", 1)[1])
    group.attrs["total_steps"] = length
    obs = np.concatenate([recording.obs, recording.obs[-1:]])  # T+1, the last one made up
    if len(names) < 2:
        group["observations"] = obs
    else:
        end = 0
        for name, (_, width) in zip(names, header.obs_keys, strict=True):
            group[f"observations/{name}"] = obs[:, end : end + width]
            end += width
    reward: Array | None = recording.reward
    group["actions"] = recording.action
    group["rewards"] = np.zeros(length, np.float32) if reward is None else reward
    group["terminations"] = last & bool(recording.success)
    group["truncations"] = last & (not recording.success)
    infos = group.create_group("infos")
    if recording.success is not None:
        infos["success"] = np.append(np.zeros(length, bool), recording.success)  # with the reset's
    if recording.selected is not None:
        group["selected"] = recording.selected.astype(bool)


def _unseen(header: Header, about: list[dict[str, Any]]) -> list[str]:
    """What is made up for Minari; reading the dataset here gives back what was recorded."""
    said = ["the observation after the last action is not recorded; the one before it is repeated"]
    if without := sum(episode["reward"] is False for episode in about):
        said.append(f"{without} episodes have no reward; it is written as 0 there")
    if unknown := sum("success" not in episode for episode in about):
        said.append(f"{unknown} episodes do not say how they ended; they are written as truncated")
    if header.env_args and "env_spec" not in header.env_args:
        said.append("the environment is not described as gymnasium does; env_spec is left out")
    return said
