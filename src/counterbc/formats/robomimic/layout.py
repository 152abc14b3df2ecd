"""What a robomimic file says about itself: all that is needed to read any one of its demos."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.errors import AbsentEpisodes, FormatError
from counterbc.formats import extras, hdf5
from counterbc.formats.guard import guarded
from counterbc.formats.hdf5 import base, dataset, from_json, listed, member, text_of
from counterbc.formats.robomimic.writer import DEMO
from counterbc.formats.stream import Header

_ROBOSUITE = 1  # the `type` of env_args whose actions live in [-1, 1]
_USUAL = ("object", "robot0_eef_pos", "robot0_eef_quat", "robot0_gripper_qpos")
_OPERATOR_MASK = re.compile(r"(worse|okay|better)_operator_[12]")
_READ = {"actions", "rewards", "obs", "selected", "total", "env_args", "num_samples"}
_OURS = {
    "written_by", "action_low", "action_high", "action_set", "action_names", "obs_names",
    "obs_keys", "rate", "name", "operator", "success",
}  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """What is needed to read any one demo."""

    header: Header
    names: Mapping[str, str]
    """The name of each demo, by its name in the file, in order of reading."""
    keys: Sequence[str]
    widths: Sequence[int]
    image: bool
    operators: Mapping[str, str]


def find(file: h5py.File, path: Path, wanted: Sequence[str] | None) -> Layout:
    data = member(file, "data", path)
    if not isinstance(data, h5py.Group):
        raise FormatError(
            f"{path} has no group 'data', it has {listed(file, path)}; "
            "robomimic files keep their demos in data/demo_0, data/demo_1, …"
        )
    names = _read_names(data, path)
    masks = _read_masks(file, names, path)
    first = member(data, next(iter(names)), path)
    env_args = from_json(data, "env_args", path, {})
    if wanted is None and env_args.get("type") == _ROBOSUITE:
        wanted = _usual_keys(first, path)
    keys = _choose_keys(first, path, wanted)
    known_keys = _read_known_keys(data, path)
    if wanted is None and set(known_keys) == set(keys):
        keys = list(known_keys)
    found = [dataset(first, f"obs/{key}", path) for key in keys]
    image, widths = is_image(found[0]), [width_of(d) for d in found]
    foreign = hdf5.attribute(data, "written_by", path) is None
    operators = _mask_operators(masks) if foreign else {}
    header = Header(
        **_read_bounds(data, env_args, foreign, width_of(dataset(first, "actions", path)), path),
        action_names=_read_list(data, "action_names", path),
        obs_names=() if image else _read_obs_names(data, known_keys, keys, path),
        obs_keys=() if image else tuple(zip(keys, widths, strict=True)),
        rate=_read_rate(data, env_args, foreign, path),
        env_args=env_args,
        masks={m: tuple(names.get(n, n) for n in members) for m, members in masks.items()},
        source=str(path),
        operators=tuple(dict.fromkeys(operators.values())),
        left_out=_left_out(file, list(names), keys, foreign, path),
    )
    return Layout(header, names, keys, widths, image, operators)


def _read_names(data: h5py.Group, path: Path) -> dict[str, str]:
    """demo_2 before demo_10; other names after them, by name."""
    found = hdf5.names(data, path)
    numbers = {n: int(m[1]) for n in found if (m := DEMO.fullmatch(n))}
    ordered = sorted(found, key=lambda n: (n not in numbers, numbers.get(n, 0), n))
    demos = [n for n in ordered if n in numbers or hdf5.is_group(data, n, path)]
    if not demos:
        raise FormatError(f"{path} has no demos in its group 'data'; record at least one")
    if hdf5.attribute(data, "written_by", path) is None:
        return dict(zip(demos, demos, strict=True))
    return {n: text_of(member(data, n, path), "name", path) or n for n in demos}


def _usual_keys(group: h5py.Group, path: Path) -> list[str] | None:
    """What robomimic itself trains on, where a file of robosuite has it and more: joints twice over
    and velocities make a longer state of the same information."""
    found = member(group, "obs", path)
    keys = hdf5.names(found, path) if isinstance(found, h5py.Group) else []
    return list(_USUAL) if set(_USUAL) < set(keys) else None


def _choose_keys(group: h5py.Group, path: Path, wanted: Sequence[str] | None) -> list[str]:
    """The observation keys to read: the wanted ones, or all that are vectors, or the one image."""
    found = member(group, "obs", path)
    keys = hdf5.names(found, path) if isinstance(found, h5py.Group) else []
    if not keys:
        raise FormatError(
            f"{path}: demo {base(group)!r} has no observations, it has {listed(group, path)}; "
            "make them from its states with robomimic's dataset_states_to_obs.py"
        )
    allowed = ", ".join(keys)
    if wanted is not None:
        for key in wanted:
            if key not in keys:
                raise FormatError(f"{path} has no obs/{key}; allowed: {allowed}")
        keys = list(wanted)
    images = [k for k in keys if is_image(dataset(group, f"obs/{k}", path))]
    vectors = [k for k in keys if k not in images]
    if wanted is not None and images and (vectors or len(images) > 1):
        raise FormatError(
            f"{path}: cannot join {', '.join(keys)}; choose one image, or vectors only"
        )
    if not keys or (not vectors and len(images) > 1):
        raise FormatError(
            f"{path} has several kinds of observations and none was chosen; name one of {allowed} "
            "with --obs, or robomimic.read(path, obs=[…])"
        )
    return vectors or images


def _read_bounds(
    data: h5py.Group, env_args: Mapping[str, Any], foreign: bool, width: int, path: Path
) -> dict[str, Any]:
    low, high = (hdf5.attribute(data, k, path) for k in ("action_low", "action_high"))
    if low is not None and high is not None:
        action_set = text_of(data, "action_set", path) or "box"
        return {"action_low": low, "action_high": high, "action_set": action_set}
    if foreign and env_args.get("type") == _ROBOSUITE:
        return {"action_low": -np.ones(width), "action_high": np.ones(width)}
    return {}


def _read_rate(
    data: h5py.Group, env_args: Mapping[str, Any], foreign: bool, path: Path
) -> float | None:
    own = hdf5.number_of(data, "rate", path)
    if own is not None:
        return own
    kwargs = env_args.get("env_kwargs")
    rate = kwargs.get("control_freq") if foreign and isinstance(kwargs, dict) else None
    return float(rate) if isinstance(rate, int | float) and 0 < rate < 1e9 else None


def _read_list(data: h5py.Group, key: str, path: Path) -> tuple[str, ...]:
    values = from_json(data, key, path, [])
    if not all(isinstance(v, str) for v in values):
        raise FormatError(f"{path}: attribute {key} is not a list of names; repair it")
    return tuple(values)


def _read_known_keys(data: h5py.Group, path: Path) -> dict[str, int]:
    """The recorded width of each observation key."""
    pairs = from_json(data, "obs_keys", path, [])
    for p in pairs:
        if not (isinstance(p, list) and [type(x) for x in p] == [str, int]):
            raise FormatError(f"{path}: attribute obs_keys holds {p}; expected a name and a width")
    return dict(pairs)


def _read_obs_names(
    data: h5py.Group, known: Mapping[str, int], keys: Sequence[str], path: Path
) -> tuple[str, ...]:
    """The recorded names of the chosen keys' dimensions; empty where they are not all recorded."""
    names = _read_list(data, "obs_names", path)
    if not set(keys) <= set(known) or len(names) != sum(known.values()):
        return ()
    ends = np.cumsum(list(known.values()))
    of_key = {k: names[end - w : end] for (k, w), end in zip(known.items(), ends, strict=True)}
    return tuple(name for key in keys for name in of_key[key])


def _read_masks(
    file: h5py.File, demos: Mapping[str, str], path: Path
) -> dict[str, tuple[str, ...]]:
    group = member(file, "mask", path)
    if not isinstance(group, h5py.Group):
        return {}
    masks = {}
    for m in hdf5.names(group, path):
        found = member(group, m, path)
        members = hdf5.strings(found, f"mask/{m}", path)
        own = hdf5.text_of(found, "name", path)
        masks[m if own is None else own] = members
    absent = {n for members in masks.values() for n in members} - set(demos)
    if absent:
        warnings.warn(
            f"{path}: its masks name {len(absent)} episodes that it does not hold; "
            "they are passed over",
            AbsentEpisodes,
            stacklevel=2,
        )
    return masks


def _mask_operators(masks: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Multi-Human files tell who demonstrated in masks such as worse_operator_1 only."""
    tiers = {m: names for m, names in masks.items() if _OPERATOR_MASK.fullmatch(m)}
    return {name: mask for mask, names in tiers.items() for name in names}


def _left_out(
    file: h5py.File, demos: Sequence[str], keys: Sequence[str], foreign: bool, path: Path
) -> tuple[str, ...]:
    """What the file holds beyond what is read; names only, but those of every demo."""
    known = _READ | (set() if foreign else _OURS | {"dones"})
    data = hdf5.subgroup(file, "data", path)
    obs, members, attributes = _names_within(data, demos, path)
    out = [f"obs/{k}" for k in sorted(obs - set(keys))]
    out += sorted(members - known)
    out += [f"data/{k}" for k in hdf5.names(data, path) if k not in set(demos)]
    masks = {"mask"} if isinstance(member(file, "mask", path), h5py.Group) else set()
    out += [k for k in hdf5.names(file, path) if k not in {"data"} | masks]
    attributes |= _attributes(data, path)
    out += [f"attribute {a}" for a in sorted((attributes - known) | _attributes(file, path))]
    first = member(data, demos[0], path)
    numeric = ["actions", *(["rewards"] if "rewards" in hdf5.names(first, path) else [])]
    read = [dataset(first, k, path).dtype for k in (*numeric, *(f"obs/{k}" for k in keys))]
    return (*out, *extras.lost_digits(read))


def _names_within(
    data: h5py.Group, demos: Sequence[str], path: Path
) -> tuple[set[str], set[str], set[str]]:
    """The names of all observations, members and attributes that any demo has."""
    obs: set[str] = set()
    members: set[str] = set()
    attributes: set[str] = set()
    for name in demos:
        if not hdf5.is_group(data, name, path):
            continue  # which reading refuses
        demo = hdf5.subgroup(data, name, path, known=True)
        members.update(there := hdf5.names(demo, path))
        attributes |= _attributes(demo, path)
        if "obs" in there and hdf5.is_group(demo, "obs", path):
            obs.update(hdf5.names(hdf5.subgroup(demo, "obs", path, known=True), path))
    return obs, members, attributes


def _attributes(group: h5py.Group, path: Path) -> set[str]:
    """The names of its attributes; h5py's own listing takes as long as reading an episode."""
    found: list[bytes] = []
    with guarded(path):
        h5py.h5a.iterate(group.id, lambda name, *_: found.append(name))
    return {name.decode(errors="replace") for name in found}


def is_image(values: Any) -> bool:
    """Frames (uint8) and depth maps, as opposed to vectors and small matrices."""
    return bool(values.ndim >= 4 or (values.ndim == 3 and values.dtype == np.uint8))


def width_of(values: Any) -> int:
    """How many numbers a row holds."""
    return math.prod(values.shape[1:])
