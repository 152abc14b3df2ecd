"""What a robomimic file holds that is not read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import h5py

from counterbc.files import Guard
from counterbc.formats import hdf5
from counterbc.formats.extras import lost_digits

_READ = {
    "actions_are", "rewards", "obs", "selected", "total", "env_args", "num_samples", "relative",
    "action_low", "action_high", "action_set", "action_names", "obs_names", "obs_keys", "rate",
    "operator", "success", "angles", "cameras",
}  # fmt: skip
_WRITTEN_BY_US = {"written_by", "name", "dones"}


def left_out(
    file: h5py.File,
    demos: Sequence[str],
    model: h5py.Group,
    keys: Sequence[str],
    actions: Sequence[str],
    foreign: bool,
) -> tuple[str, ...]:
    """Return the names of what is not read in any demo; `model` is the demo that others follow."""
    path = Path(file.filename)
    read_names = _READ | {*actions} | (set() if foreign else _WRITTEN_BY_US)
    data = hdf5.subgroup(file, "data", path)
    obs, members, attributes = _names_within(data, demos, path)
    out = [f"obs/{k}" for k in sorted(obs - set(keys))]
    out += sorted(members - read_names)
    demo_names = set(demos)
    out += [f"data/{k}" for k in hdf5.names(data, path) if k not in demo_names]
    masks = {"mask"} if isinstance(hdf5.member(file, "mask", path), h5py.Group) else set()
    out += [k for k in hdf5.names(file, path) if k not in {"data"} | masks]
    attributes |= _attributes(data, path)
    out += [f"attribute {a}" for a in sorted((attributes - read_names) | _attributes(file, path))]
    numeric = [*actions, *(["rewards"] if "rewards" in hdf5.names(model, path) else [])]
    names = (*numeric, *(f"obs/{k}" for k in keys))
    return (*out, *lost_digits(hdf5.dataset(model, name, path).dtype for name in names))


def _names_within(
    data: h5py.Group, demos: Sequence[str], path: Path
) -> tuple[set[str], set[str], set[str]]:
    """Return the names of all observations, members and attributes of any demo."""
    obs: set[str] = set()
    members: set[str] = set()
    attributes: set[str] = set()
    for name in demos:
        demo = hdf5.group_of(data, name, path) if hdf5.holds(data, name, path) else None
        if demo is None:
            continue  # reading it raises an error
        demo_names = hdf5.names(demo, path)
        members.update(demo_names)
        attributes |= _attributes(demo, path)
        obs_group = hdf5.group_of(demo, "obs", path) if "obs" in demo_names else None
        if obs_group is not None:
            obs.update(hdf5.names(obs_group, path))
    return obs, members, attributes


def _attributes(group: h5py.Group, path: Path) -> set[str]:
    """Return the names of attributes; listing them with h5py takes as long as an episode."""
    names: list[bytes] = []
    with Guard(path):
        h5py.h5a.iterate(group.id, lambda name, *_: names.append(name))
    return {name.decode(errors="replace") for name in names}
