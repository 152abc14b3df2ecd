"""Minari's HDF5 layout, as Minari's own storage writes it; extras go to metadata.json."""

from __future__ import annotations

import json
import re
from itertools import chain
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Array
from counterbc.files import aside, check_free
from counterbc.formats import extras, json_files
from counterbc.formats.minari.spaces import box
from counterbc.formats.stream import Header, RawEpisode, Stream

_ID = re.compile(r"[-_\w]+-v\d+", re.ASCII)
_PLAIN = re.compile(r"\w[\w.\- ]*")
_VERSION = "0.5.0"  # of this layout; later versions read it
_IMAGE_VERSION = "0.5.4"  # the first that is told not to expect JPEG


def write(data: Demonstrations | Stream, path: str | Path) -> list[str]:
    """Write a dataset that `read` gives back unchanged; returns what Minari will not see of it."""
    path = Path(path)
    check_free(path)
    passing = Stream.of(data).checked()
    header = passing.header
    with aside(path) as temporary:
        folder = temporary / "data"
        folder.mkdir(parents=True)
        about, steps, spaces = _write_data(folder / "main_data.hdf5", passing)
        size = (folder / "main_data.hdf5").stat().st_size
        spec = header.env_args.get("env_spec")
        metadata = {
            "dataset_id": path.name if _ID.fullmatch(path.name) else "demonstrations-v0",
            "total_episodes": len(about),
            "total_steps": steps,
            "dataset_size": round(size / 1e6, 1),
            **({"env_spec": spec} if isinstance(spec, str) else {}),
            **spaces,
            "counterbc": extras.of(header, about) | {"env_args": header.env_args},
        }
        json_files.dump(metadata, folder / "metadata.json")
    return _unseen(header, about)


def _write_data(path: Path, passing: Stream) -> tuple[list[dict[str, Any]], int, dict[str, Any]]:
    """Write the episodes; what to remember of each, how many steps, and how they are stored."""
    about: list[dict[str, Any]] = []
    steps, names = 0, _names(passing.header)
    first = next(passing.raw_episodes)  # there is one, or `checked` would have refused
    try:
        with h5py.File(path, "x", track_order=True) as file:
            for i, recording in enumerate(chain([first], passing.raw_episodes)):
                group = file.create_group(f"episode_{i}")
                _write_episode(group, recording, passing.header, names)
                about.append(extras.about(recording, reward_held=True))
                steps += len(recording.action)
    except RuntimeError as error:  # how h5py reports a disk that fills up while it closes
        raise OSError(str(error)) from error
    return about, steps, _spaces(passing.header, names, first)


def _names(header: Header) -> list[str]:
    """What each key is called in the file: its own name where HDF5 and Python can hold it."""
    keys = [key for key, _ in header.obs_keys]
    plain = all(_PLAIN.fullmatch(k) for k in keys)
    return keys if plain else [f"part_{i}" for i in range(len(keys))]


def _spaces(header: Header, names: list[str], first: RawEpisode) -> dict[str, Any]:
    """Data format and spaces."""
    image = first.obs.ndim > 2
    parts = [box([width], -np.inf, np.inf) for _, width in header.obs_keys]
    observation = box(first.obs.shape[1:], 0, 255, "uint8") if image else parts[0]
    if len(parts) > 1:
        observation = {"type": "Dict", "subspaces": dict(zip(names, parts, strict=True))}
    low = -np.inf if header.action_low is None else header.action_low
    high = np.inf if header.action_high is None else header.action_high
    return {
        "data_format": "hdf5",
        "jpeg_encoding": False,  # which would lose detail
        "observation_space": json.dumps(observation),
        "action_space": json.dumps(box(first.action.shape[1:], low, high)),
        "minari_version": _IMAGE_VERSION if image else _VERSION,
    }


def _write_episode(
    group: h5py.Group, recording: RawEpisode, header: Header, names: list[str]
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
