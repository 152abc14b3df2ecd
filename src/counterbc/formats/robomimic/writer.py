"""Write robomimic HDF5 demo by demo, in the layout that the package describes."""

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
from counterbc.formats.hdf5_output import Output, new_file
from counterbc.formats.stream import Header, RawEpisode, Stream, camera_names

DEMO = re.compile(r"demo_(0|[1-9][0-9]{0,17})")
"""The names of demos that robomimic reads; the number fits in 64 bits."""


def write(data: Demonstrations | Stream, path: str | Path) -> list[str]:
    """Write a file that reads back unchanged; on failure no file remains. Nothing is lost."""
    stream = Stream.of(data).checked()
    header = stream.header
    _check_names([key for key, _ in header.obs_keys])
    _check_names([header.camera] if header.camera else [])
    _check_texts([header.relative or ""])
    for mask, members in header.masks.items():
        _check_texts([mask, *members])
    env_args = _json(header)
    with new_file(Path(path)) as output:
        group = output.file.create_group("data")
        _write_header(group, header, env_args)
        names, total = _Names(header.masks), 0
        for raw in stream.raw_episodes:
            _check_texts([raw.name, raw.operator or ""])
            if not total:
                _check_names(list(raw.images))
                _write_cameras(group, header, raw)
            _write_demo(output, group.create_group(names.add(raw.name)), raw, header)
            total += len(raw.action)
        group.attrs["total"] = total
        for mask, members in header.masks.items():
            _write_mask(output, mask, [names.in_file.get(m, m).encode() for m in members])
    return []


def _write_mask(output: Output, mask: str, members: Sequence[bytes]) -> None:
    """Write a mask; one with a name that HDF5 cannot hold gets a similar one and an attribute."""
    is_valid = mask not in ("", ".", "..") and "/" not in mask
    key = "mask/" + (mask if is_valid else f"“{mask.replace('/', '|')}”")
    width = max(map(len, members), default=0)
    names = output.put(output.file, key, np.array(members, dtype=f"S{max(width, 1)}"))
    if not is_valid:
        names.attrs["name"] = mask


def _write_header(data: h5py.Group, header: Header, env_args: str) -> None:
    data.attrs["env_args"] = env_args
    data.attrs["written_by"] = "counterbc"
    if header.action_low is not None and header.action_high is not None:
        data.attrs["action_low"] = header.action_low
        data.attrs["action_high"] = header.action_high
        data.attrs["action_set"] = header.action_set
    for key in ("action_names", "obs_names", "obs_keys"):
        data.attrs[key] = json.dumps(getattr(header, key))
    if header.angles:
        data.attrs["angles"] = json.dumps(header.angles)
    if header.actions_are is not None:
        data.attrs["actions_are"] = header.actions_are
    if header.relative is not None:
        data.attrs["relative"] = header.relative
    if header.rate is not None:
        data.attrs["rate"] = float(header.rate)


def _write_cameras(data: h5py.Group, header: Header, first: RawEpisode) -> None:
    """Name the cameras in order."""
    if cameras := camera_names(header, first):
        data.attrs["cameras"] = json.dumps(cameras)


def _write_demo(output: Output, group: h5py.Group, demo: RawEpisode, header: Header) -> None:
    length = len(demo.action)
    group.attrs["num_samples"] = length
    if demo.name != hdf5.base(group):
        group.attrs["name"] = demo.name
    if demo.operator is not None:
        group.attrs["operator"] = demo.operator
    if demo.success is not None:
        group.attrs["success"] = demo.success
    output.put_numbers(group, "actions", demo.action)
    if demo.reward is not None:
        output.put_numbers(group, "rewards", demo.reward)
    if demo.selected is not None:
        output.put_numbers(group, "selected", demo.selected)
    dones = np.zeros(length, np.int64)
    dones[-1] = 1
    output.put_numbers(group, "dones", dones)
    obs = group.create_group("obs")
    if header.camera:
        output.put_numbers(obs, header.camera, demo.obs)
    for camera, image in demo.images.items():
        output.put_numbers(obs, camera, image)
    end = 0
    for key, width in header.obs_keys:
        output.put_numbers(obs, key, demo.obs[:, end : end + width])
        end += width


class _Names:
    """The name of each episode in the file, which must be demo_i for robomimic to read it.

    Demos are read in the order of their numbers, so a name demo_i is preserved if its number is
    larger than the one before. New numbers are larger than all in masks, which may be of demos that
    are not in the file.
    """

    def __init__(self, masks: Mapping[str, Sequence[str]]) -> None:
        in_masks = {n for members in masks.values() for n in members}
        self._above = max((int(m[1]) for n in in_masks if (m := DEMO.fullmatch(n))), default=-1)
        self._last = -1
        self.in_file: dict[str, str] = {}

    def add(self, name: str) -> str:
        match = DEMO.fullmatch(name)
        increases = match is not None and int(match[1]) > self._last
        self._last = int(match[1]) if match and increases else max(self._last, self._above) + 1
        self.in_file[name] = f"demo_{self._last}"
        return self.in_file[name]


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if name in ("", ".", "..") or "/" in name:
            raise FormatError(
                f"{name!r} cannot be a name in an HDF5 file; rename that observation key"
            )
    _check_texts(names)


def _check_texts(texts: Sequence[str]) -> None:
    for value in texts:
        if "\0" in value:
            raise FormatError(
                f"{value!r} has a character that HDF5 cannot store; rename that mask, key, episode "
                "or operator"
            )


def _json(header: Header) -> str:
    try:
        return json.dumps(dict(header.env_args))
    except (TypeError, ValueError) as error:
        raise FormatError(
            f"env_args cannot be written as JSON ({error}); rename or remove that value"
        ) from None
