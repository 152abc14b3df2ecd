"""The layout of a robomimic file: header, demos, and the observation keys to read."""

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
from counterbc.formats import hdf5
from counterbc.formats.hdf5 import base, dataset, from_json, listing, member, text_of
from counterbc.formats.robomimic.contents import left_out
from counterbc.formats.robomimic.writer import DEMO
from counterbc.formats.stream import Header

_ROBOSUITE = 1  # the `type` in env_args whose actions lie in [-1, 1]
_USUAL = ("object", "robot0_eef_pos", "robot0_eef_quat", "robot0_gripper_qpos")
_ACTIONS = ("actions",)
_OPERATOR_MASK = re.compile(r"(worse|okay|better)_operator_[12]")


@dataclass(frozen=True)
class Layout:
    """What a reader needs to know to read any demo of a file."""

    header: Header
    names: Mapping[str, str]
    """The name of each demo, by its name in the file, in the order of reading."""
    vectors: Sequence[tuple[str, int]]
    """The observation keys that are joined to a vector, with their widths."""
    cameras: Sequence[str]
    """The observation keys that are images; the first one is `obs` where there are no vectors."""
    actions: Sequence[str]
    """The datasets of a demo that are its action, side by side."""
    operators: Mapping[str, str]


def read_layout(
    file: h5py.File, path: Path, obs: Sequence[str] | None, action: Sequence[str] | None = None
) -> Layout:
    """Read the layout of a file; `obs` and `action` name the keys to use, in that order."""
    data = member(file, "data", path)
    if not isinstance(data, h5py.Group):
        raise FormatError(
            f"{path} has no group 'data'; it has {listing(file, path)}; "
            "give a robomimic file, with demos in data/demo_0, data/demo_1, …"
        )
    names = _read_names(data, path)
    masks = _read_masks(file, names, path)
    actions = tuple(action or _ACTIONS)
    first = _model(data, list(names), actions, path)
    env_args = from_json(data, "env_args", path, {})
    if obs is None and env_args.get("type") == _ROBOSUITE:
        obs = _usual_keys(first, path)
    key_widths = _read_key_widths(data, path)
    foreign = hdf5.attribute(data, "written_by", path) is None
    if obs is None and not foreign:
        parts = [*key_widths, *_read_list(data, "cameras", path)]
        obs = parts if parts and set(parts) <= set(_obs_keys(first, path)) else None
    keys = _choose_keys(first, path, obs)
    datasets = {key: dataset(first, f"obs/{key}", path) for key in keys}
    cameras = [key for key, values in datasets.items() if is_image(values)]
    vectors = [(key, width_of(x)) for key, x in datasets.items() if key not in cameras]
    names_read = [key for key, _ in vectors]
    operators = _mask_operators(masks) if foreign else {}
    header = Header(
        **_read_action(data, first, env_args, foreign, actions, path),
        obs_names=_read_obs_names(data, key_widths, names_read, path) if vectors else (),
        obs_keys=tuple(vectors),
        camera="" if vectors else cameras[0],
        blind_to=_unread_cameras(first, keys, path),
        angles=_read_list(data, "angles", path),
        rate=_read_rate(data, env_args, foreign, path),
        env_args=env_args,
        masks={m: tuple(names.get(n, n) for n in members) for m, members in masks.items()},
        source=str(path),
        operators=tuple(dict.fromkeys(operators.values())),
        left_out=left_out(file, list(names), first, keys, actions, foreign),
    )
    return Layout(
        header=header, names=names, vectors=vectors, cameras=cameras, actions=actions,
        operators=operators,
    )  # fmt: skip


def _read_names(data: h5py.Group, path: Path) -> dict[str, str]:
    """Return the names of the demos: demo_2 before demo_10, and other names after them."""
    names = hdf5.names(data, path)
    numbers = {n: int(m[1]) for n in names if (m := DEMO.fullmatch(n))}
    names = sorted(names, key=lambda n: (n not in numbers, numbers.get(n, 0), n))
    demos = [n for n in names if n in numbers or hdf5.is_group(data, n, path)]
    if not demos:
        raise FormatError(
            f"{path} has no demos in its group 'data', which holds {listing(data, path)}; "
            "give a file with at least one group data/demo_0"
        )
    if hdf5.attribute(data, "written_by", path) is None:
        return dict(zip(demos, demos, strict=True))
    return {n: text_of(member(data, n, path), "name", path) or n for n in demos}


def _model(
    data: h5py.Group, names: Sequence[str], actions: Sequence[str], path: Path
) -> h5py.Group:
    """Return the first demo that has observations and actions, by which the others are read."""
    demos = (member(data, name, path) for name in names)
    groups = (demo for demo in demos if isinstance(demo, h5py.Group))
    has_both = (
        g for g in groups if _obs_keys(g, path) and all(hdf5.holds(g, a, path) for a in actions)
    )
    return next(has_both, None) or hdf5.subgroup(data, names[0], path)


def _usual_keys(group: h5py.Group, path: Path) -> list[str] | None:
    """Return the keys that robomimic trains on if a robosuite file has them among others.

    The others (joint positions and velocities) repeat the same information in a longer state.
    """
    keys = _obs_keys(group, path)
    return list(_USUAL) if set(_USUAL) < set(keys) else None


def _obs_keys(group: h5py.Group, path: Path) -> list[str]:
    """Return the names of the datasets in the group obs; groups in it are left aside."""
    obs = member(group, "obs", path)
    names = hdf5.names(obs, path) if isinstance(obs, h5py.Group) else []
    return [name for name in names if not hdf5.is_group(obs, name, path)]


def _choose_keys(group: h5py.Group, path: Path, obs: Sequence[str] | None) -> list[str]:
    """Return the observation keys to read: those in `obs`, or all vectors, or all images."""
    keys = _obs_keys(group, path)
    if not keys:
        raise FormatError(
            f"{path}: demo {base(group)!r} has no observations; it has {listing(group, path)}; "
            "compute them from its states with robomimic's dataset_states_to_obs.py"
        )
    all_keys = ", ".join(keys)
    if obs is not None:
        for key in obs:
            if key not in keys:
                raise FormatError(f"{path} has no obs/{key}; allowed: {all_keys}")
        if not obs:
            raise FormatError(
                f"{path}: no observation was chosen; name one of {all_keys} "
                "with --obs, or with load(path, obs=[…])"
            )
        return list(dict.fromkeys(obs))
    vectors = [k for k in keys if not is_image(dataset(group, f"obs/{k}", path))]
    return vectors or keys


def _unread_cameras(group: h5py.Group, keys: Sequence[str], path: Path) -> tuple[str, ...]:
    """Return the observation keys that are images and not among `keys`."""
    unread = [key for key in _obs_keys(group, path) if key not in keys]
    return tuple(key for key in unread if _holds_images(group, key, path))


def _holds_images(group: h5py.Group, key: str, path: Path) -> bool:
    """Return whether a key holds images; one that cannot be read matters only if it is chosen."""
    try:
        return is_image(dataset(group, f"obs/{key}", path))
    except FormatError:
        return False


def _read_action(
    data: h5py.Group,
    demo: h5py.Group,
    env_args: Mapping[str, Any],
    foreign: bool,
    actions: Sequence[str],
    path: Path,
) -> dict[str, Any]:
    """Return what the file says about its action, or the names of an action that was chosen."""
    widths = [width_of(dataset(demo, key, path)) for key in actions]
    if actions != _ACTIONS:
        pairs = zip(actions, widths, strict=True)
        return {"action_names": tuple(f"{key}[{i}]" for key, width in pairs for i in range(width))}
    return {
        **_read_bounds(data, env_args, foreign, widths[0], path),
        "actions_are": text_of(data, "actions_are", path),  # the dataset refuses any other word
        "relative": text_of(data, "relative", path),
        "action_names": _read_list(data, "action_names", path),
    }


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
    recorded_rate = hdf5.number_of(data, "rate", path)
    if recorded_rate is not None:
        return recorded_rate
    kwargs = env_args.get("env_kwargs")
    rate = kwargs.get("control_freq") if foreign and isinstance(kwargs, dict) else None
    return float(rate) if isinstance(rate, int | float) and 0 < rate < 1e9 else None


def _read_list(data: h5py.Group, key: str, path: Path) -> tuple[str, ...]:
    values = from_json(data, key, path, [])
    if not all(isinstance(v, str) for v in values):
        raise FormatError(f"{path}: attribute {key} is not a list of names; repair it")
    return tuple(values)


def _read_key_widths(data: h5py.Group, path: Path) -> dict[str, int]:
    """Return the recorded width of each observation key."""
    pairs = from_json(data, "obs_keys", path, [])
    for p in pairs:
        if not (isinstance(p, list) and [type(x) for x in p] == [str, int]):
            raise FormatError(
                f"{path}: attribute obs_keys holds {p}; expected [name, width] pairs; repair it"
            )
    return dict(pairs)


def _read_obs_names(
    data: h5py.Group, key_widths: Mapping[str, int], keys: Sequence[str], path: Path
) -> tuple[str, ...]:
    """Return the recorded names of the dimensions of `keys`; empty unless all are recorded."""
    names = _read_list(data, "obs_names", path)
    if not set(keys) <= set(key_widths) or len(names) != sum(key_widths.values()):
        return ()
    ends = np.cumsum(list(key_widths.values()))
    spans = zip(key_widths.items(), ends, strict=True)
    names_by_key = {key: names[end - width : end] for (key, width), end in spans}
    return tuple(name for key in keys for name in names_by_key[key])


def _read_masks(
    file: h5py.File, demos: Mapping[str, str], path: Path
) -> dict[str, tuple[str, ...]]:
    group = member(file, "mask", path)
    if not isinstance(group, h5py.Group):
        return {}
    masks = {}
    for m in hdf5.names(group, path):
        mask = member(group, m, path)
        members = hdf5.strings(mask, f"mask/{m}", path)
        full_name = text_of(mask, "name", path)
        masks[m if full_name is None else full_name] = members
    absent = {n for members in masks.values() for n in members} - set(demos)
    if absent:
        warnings.warn(
            f"{path}: its masks name {len(absent)} episodes that are not in the file; "
            "these are ignored",
            AbsentEpisodes,
            stacklevel=2,
        )
    return masks


def _mask_operators(masks: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the operator of each demo of a Multi-Human file, from masks like worse_operator_1."""
    tiers = {m: names for m, names in masks.items() if _OPERATOR_MASK.fullmatch(m)}
    return {name: mask for mask, names in tiers.items() for name in names}


def is_image(values: Any) -> bool:
    """Return whether values are frames (uint8) or depth maps rather than vectors or matrices."""
    return bool(values.ndim >= 4 or (values.ndim == 3 and values.dtype == np.uint8))


def width_of(values: Any) -> int:
    """Return the number of values per row."""
    return math.prod(values.shape[1:])
