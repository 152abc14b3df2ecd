"""Write Minari's HDF5 layout as Minari does, with our extras in metadata.json."""

from __future__ import annotations

import json
import re
from itertools import chain
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import FormatError
from counterbc.files import aside, check_free
from counterbc.formats import json_files
from counterbc.formats.extras import describe, extras_json, with_checksum
from counterbc.formats.hdf5_output import VERSION, Output, open_to_write
from counterbc.formats.minari.spaces import box
from counterbc.formats.stream import Header, RawEpisode, Stream

_ID = re.compile(r"[-_\w]+-v\d+", re.ASCII)
_SIMPLE = re.compile(r"\w[\w.\- ]*")
_VERSION = "0.5.0"  # of this layout, which later versions read
_IMAGE_VERSION = "0.5.4"  # the first with the field jpeg_encoding


def write(data: Demonstrations | Stream, path: str | Path) -> list[str]:
    """Write a dataset that reads back unchanged; return what Minari itself will not see of it."""
    path = Path(path)
    check_free(path)
    stream = Stream.of(data).checked()
    header = stream.header
    with aside(path) as temporary:
        folder = temporary / "data"
        folder.mkdir(parents=True)
        episodes, steps, spaces = _write_data(folder / "main_data.hdf5", stream)
        size = (folder / "main_data.hdf5").stat().st_size
        spec = header.env_args.get("env_spec")
        metadata = {
            "dataset_id": path.name if _ID.fullmatch(path.name) else "demonstrations-v0",
            "total_episodes": len(episodes),
            "total_steps": steps,
            "dataset_size": round(size / 1e6, 1),
            **({"env_spec": spec} if isinstance(spec, str) else {}),
            **spaces,
            "counterbc": with_checksum(
                extras_json(header, episodes, [header.camera] if header.camera else [])
                | {"env_args": dict(header.env_args)}
            ),
        }
        json_files.dump(metadata, folder / "metadata.json")
    return _notes(header, episodes)


def _write_data(path: Path, stream: Stream) -> tuple[list[dict[str, Any]], int, dict[str, Any]]:
    """Write the episodes; return their descriptions, the number of steps, and the spaces."""
    episodes: list[dict[str, Any]] = []
    steps, names = 0, _names(stream.header)
    first = next(stream.raw_episodes)  # `checked` refuses a dataset without episodes
    if first.images:
        raise FormatError(
            "Minari is written with vectors or one camera, not both; write robomimic HDF5 or "
            "LeRobot instead, or leave the cameras out with --obs"
        )
    with open_to_write(path, "x+b", libver=VERSION, track_order=True) as output:
        for i, raw in enumerate(chain([first], stream.raw_episodes)):
            group = output.file.create_group(f"episode_{i}")
            _write_episode(output, group, raw, stream.header, names)
            episodes.append(describe(raw, stores_reward=True))
            steps += len(raw.action)
    return episodes, steps, _spaces(stream.header, names, first)


def _names(header: Header) -> list[str]:
    """Return the name of each key in the file: the key itself if HDF5 and Python allow it."""
    keys = [key for key, _ in header.obs_keys]
    simple = all(_SIMPLE.fullmatch(k) for k in keys)
    return keys if simple else [f"part_{i}" for i in range(len(keys))]


def _spaces(header: Header, names: list[str], first: RawEpisode) -> dict[str, Any]:
    """Return the metadata of the data format and the spaces."""
    image = first.obs.ndim > 2
    parts = [box([width], -np.inf, np.inf) for _, width in header.obs_keys]
    observation = box(first.obs.shape[1:], 0, 255, "uint8") if image else parts[0]
    if len(parts) > 1:
        observation = {"type": "Dict", "subspaces": dict(zip(names, parts, strict=True))}
    low = -np.inf if header.action_low is None else header.action_low
    high = np.inf if header.action_high is None else header.action_high
    return {
        "data_format": "hdf5",
        "jpeg_encoding": False,  # JPEG is lossy
        "observation_space": json.dumps(observation),
        "action_space": json.dumps(box(first.action.shape[1:], low, high)),
        "minari_version": _IMAGE_VERSION if image else _VERSION,
    }


def _write_episode(
    output: Output, group: h5py.Group, raw: RawEpisode, header: Header, names: list[str]
) -> None:
    length = len(raw.action)
    last = np.arange(length) == length - 1
    group.attrs["id"] = int(group.name.rsplit("_", 1)[1])
    group.attrs["total_steps"] = length
    obs = np.concatenate([raw.obs, raw.obs[-1:]])  # T+1 rows, the last one invented
    if len(names) < 2:
        output.put(group, "observations", obs)
    else:
        end = 0
        for name, (_, width) in zip(names, header.obs_keys, strict=True):
            output.put(group, f"observations/{name}", obs[:, end : end + width])
            end += width
    reward: Array | None = raw.reward
    output.put(group, "actions", raw.action)
    output.put(group, "rewards", np.zeros(length, np.float32) if reward is None else reward)
    output.put(group, "terminations", last & bool(raw.success))
    output.put(group, "truncations", last & (not raw.success))
    infos = group.create_group("infos")
    if raw.success is not None:
        success = np.append(np.zeros(length, bool), raw.success)  # one entry for the reset, too
        output.put(infos, "success", success)
    if raw.selected is not None:
        output.put(group, "selected", raw.selected.astype(bool))


def _notes(header: Header, episodes: list[dict[str, Any]]) -> list[str]:
    """Return what is invented for Minari; our reader restores what was recorded."""
    notes = ["the observation after the last action is not recorded; the one before it is repeated"]
    if without := sum(episode["reward"] is False for episode in episodes):
        notes.append(f"{without} episodes have no reward; it is written as 0 there")
    if unknown := sum("success" not in episode for episode in episodes):
        notes.append(f"{unknown} episodes have no success; they are written as truncated")
    if header.env_args and "env_spec" not in header.env_args:
        notes.append("the environment has no gymnasium specification; env_spec is left out")
    return notes
