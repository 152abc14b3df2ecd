"""Writing robomimic HDF5, demo by demo; the layout is told in robomimic.py."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import h5py
import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import FormatError
from counterbc.formats import hdf5
from counterbc.formats.stream import Header, RawEpisode, Stream

DEMO = re.compile(r"demo_(0|[1-9][0-9]{0,17})")
"""The names that robomimic reads, of numbers that fit in 64 bits."""


def write(data: Demonstrations | Stream, path: str | Path) -> list[str]:
    """Write a file that reads back unchanged, all of it or nothing; nothing is ever lost in it."""
    stream = Stream.of(data).checked()
    header = stream.header
    _check_names([key for key, _ in header.obs_keys])
    for mask, members in header.masks.items():
        _check_texts([mask, *members])
    env_args = _dumped(header)
    with hdf5.created(Path(path)) as file:
        group = file.create_group("data")
        _write_header(group, header, env_args)
        names, total = _Names(header.masks), 0
        for recording in stream.raw_episodes:
            _check_texts([recording.name, recording.operator or ""])
            _write_demo(group.create_group(names.add(recording.name)), recording, header.obs_keys)
            total += len(recording.action)
        group.attrs["total"] = total
        for mask, members in header.masks.items():
            _write_mask(file, mask, [names.in_file.get(m, m).encode() for m in members])
    return []


def _write_mask(file: h5py.File, mask: str, members: Sequence[bytes]) -> None:
    """A mask whose name cannot be one in HDF5 gets a similar one, and its own as an attribute."""
    plain = mask not in ("", ".", "..") and "/" not in mask
    key = "mask/" + (mask if plain else f"“{mask.replace('/', '|')}”")
    width = max(map(len, members), default=0)
    file[key] = np.array(members, dtype=f"S{max(width, 1)}")
    if not plain:
        file[key].attrs["name"] = mask


def _write_header(data: h5py.Group, header: Header, env_args: str) -> None:
    data.attrs["env_args"] = env_args
    data.attrs["written_by"] = "counterbc"
    if header.action_low is not None and header.action_high is not None:
        data.attrs["action_low"] = header.action_low
        data.attrs["action_high"] = header.action_high
        data.attrs["action_set"] = header.action_set
    for key in ("action_names", "obs_names", "obs_keys"):
        data.attrs[key] = json.dumps(getattr(header, key))
    if header.rate is not None:
        data.attrs["rate"] = float(header.rate)


def _write_demo(group: h5py.Group, demo: RawEpisode, obs_keys: Sequence[tuple[str, int]]) -> None:
    length = len(demo.action)
    group.attrs["num_samples"] = length
    if demo.name != hdf5.base(group):
        group.attrs["name"] = demo.name
    if demo.operator is not None:
        group.attrs["operator"] = demo.operator
    if demo.success is not None:
        group.attrs["success"] = demo.success
    group["actions"] = demo.action
    if demo.reward is not None:
        group["rewards"] = demo.reward
    if demo.selected is not None:
        group["selected"] = demo.selected
    group["dones"] = np.eye(1, length, length - 1, dtype=np.int64)[0]  # 0 … 0 1
    if not obs_keys:
        group["obs/image"] = demo.obs
    end = 0
    for key, width in obs_keys:
        group[f"obs/{key}"] = demo.obs[:, end : end + width]
        end += width


class _Names:
    """Each episode's name in the file: its own, or a new demo_i, as robomimic reads no others.

    Demos are read in the order of their numbers, so an own name is kept where its number rises.
    New numbers are above all that masks mention, which may be those of absent demos.
    """

    def __init__(self, masks: Mapping[str, Sequence[str]]) -> None:
        mentioned = {n for members in masks.values() for n in members}
        self._above = max((int(m[1]) for n in mentioned if (m := DEMO.fullmatch(n))), default=-1)
        self._last = -1
        self.in_file: dict[str, str] = {}

    def add(self, name: str) -> str:
        own = DEMO.fullmatch(name)
        rises = own is not None and int(own[1]) > self._last
        self._last = int(own[1]) if own and rises else max(self._last, self._above) + 1
        self.in_file[name] = f"demo_{self._last}"
        return self.in_file[name]


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if name in ("", ".", "..") or "/" in name:
            raise FormatError(f"{name!r} cannot be a name in an HDF5 file; rename that key")
    _check_texts(names)


def _check_texts(texts: Sequence[str]) -> None:
    for value in texts:
        if "\0" in value:
            raise FormatError(
                f"{value!r} has a character that HDF5 cannot hold; rename that mask, key, episode "
                "or operator"
            )


def _dumped(header: Header) -> str:
    try:
        return json.dumps(dict(header.env_args))
    except (TypeError, ValueError) as error:
        raise FormatError(
            f"env_args cannot be written as JSON ({error}); rename or remove what is in the way"
        ) from None
