"""robomimic HDF5, both ways.

    data                attrs: total, env_args (JSON)
    data/demo_i         attrs: num_samples; datasets: actions, rewards, dones, obs/<key>
    mask/<name>         byte strings: the names of a subset of demos

What robomimic has no place for goes to attributes and a dataset that it does not look at: on `data`
written_by, action_low, action_high, action_set, action_names, obs_names, obs_keys, rate; on a demo
name, operator, success and the dataset `selected`. A file with `written_by` is taken at its word;
in any other file bounds, rate and operators are read from robomimic's own conventions.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.demonstrations import Demonstrations
from counterbc.episode import Array
from counterbc.errors import AbsentEpisodes, FormatError
from counterbc.formats import hdf5
from counterbc.formats.guard import guarded
from counterbc.formats.hdf5 import base, dataset, from_json, listed, member, numbers, text_of
from counterbc.formats.robomimic_writer import DEMO, write
from counterbc.formats.stream import Header, Recording, Stream

__all__ = ["read", "recognizes", "stream", "write"]

_ROBOSUITE = 1  # the `type` of env_args whose actions live in [-1, 1]
_OPERATOR_MASK = re.compile(r"(worse|okay|better)_operator_[12]")
_READ = {"actions", "rewards", "obs", "selected", "total", "env_args", "num_samples"}
_OURS = {
    "written_by", "action_low", "action_high", "action_set", "action_names", "obs_names",
    "obs_keys", "rate", "name", "operator", "success",
}  # fmt: skip


def recognizes(path: Path) -> bool:
    """An HDF5 file with a group `data`."""
    if not path.is_file() or not h5py.is_hdf5(path):
        return False
    with hdf5.opened(path) as file:
        return isinstance(member(file, "data", path), h5py.Group)


def read(path: str | Path, obs: Sequence[str] | None = None) -> Demonstrations:
    """Read a file; `obs` names the observation keys to use, in that order.

    Without `obs`, all low-dimensional keys are joined in sorted order and images are left out; a
    file with one image key and nothing else is read as images.
    """
    return stream(path, obs).demonstrations()


def stream(path: str | Path, obs: Sequence[str] | None = None) -> Stream:
    """The same, demo by demo."""
    parts = _parts(Path(path), obs)
    return Stream(next(parts), parts)


def _parts(path: Path, obs: Sequence[str] | None) -> Iterator[Any]:
    """The header, then each recording; opening the file takes as long as ten short demos."""
    with hdf5.opened(path) as file:
        layout = _layout(file, path, obs)
        yield layout.header
        data = hdf5.subgroup(file, "data", path)
        for name in layout.names:
            demo = hdf5.subgroup(data, name, path, known=True)
            yield _read_demo(demo, name, layout, path)


@dataclass(frozen=True)
class _Layout:
    """What is needed to read any one demo."""

    header: Header
    names: Mapping[str, str]
    """The name of each demo, by its name in the file, in order of reading."""
    keys: Sequence[str]
    widths: Sequence[int]
    image: bool
    operators: Mapping[str, str]


def _layout(file: h5py.File, path: Path, wanted: Sequence[str] | None) -> _Layout:
    data = member(file, "data", path)
    if not isinstance(data, h5py.Group):
        raise FormatError(
            f"{path} has no group 'data', it has {listed(file, path)}; "
            "robomimic files keep their demos in data/demo_0, data/demo_1, …"
        )
    names = _read_names(data, path)
    masks = _read_masks(file, names, path)
    first = member(data, next(iter(names)), path)
    keys = _choose_keys(first, path, wanted)
    known_keys = _read_known_keys(data, path)
    if wanted is None and set(known_keys) == set(keys):
        keys = list(known_keys)
    found = [dataset(first, f"obs/{key}", path) for key in keys]
    image, widths = _is_image(found[0]), [_width(d) for d in found]
    foreign = hdf5.attribute(data, "written_by", path) is None
    operators = _mask_operators(masks) if foreign else {}
    env_args = from_json(data, "env_args", path, {})
    header = Header(
        **_read_bounds(data, env_args, foreign, _width(dataset(first, "actions", path)), path),
        action_names=_read_list(data, "action_names", path),
        obs_names=() if image else _read_obs_names(data, known_keys, keys, path),
        obs_keys=() if image else tuple(zip(keys, widths, strict=True)),
        rate=_read_rate(data, env_args, foreign, path),
        env_args=env_args,
        masks={m: tuple(names.get(n, n) for n in members) for m, members in masks.items()},
        source=str(path),
        operators=tuple(dict.fromkeys(operators.values())),
        left_out=_left_out(data, first, keys, foreign, path),
    )
    return _Layout(header, names, keys, widths, image, operators)


def _read_demo(group: h5py.Group, file_name: str, layout: _Layout, path: Path) -> Recording:
    name, there = layout.names[file_name], hdf5.names(group, path)
    action = numbers(group, "actions", path)
    count = hdf5.number_of(group, "num_samples", path)
    if count is not None and count != len(action):
        raise FormatError(
            f"{path}: demo {name!r} says it has {count:g} samples but holds {len(action)} actions; "
            "repair its attribute num_samples"
        )
    operator, success = text_of(group, "operator", path), hdf5.number_of(group, "success", path)
    extra = {k: numbers(group, k, path, known=True) for k in ("rewards", "selected") if k in there}
    with np.errstate(over="ignore"):  # beyond 32 bits is infinite, which is reported as such
        return Recording(
            obs=_read_obs(group, name, len(action), layout, path),
            action=_kept(action),
            reward=_kept(extra["rewards"]) if "rewards" in extra else None,
            operator=layout.operators.get(file_name) if operator is None else operator,
            success=None if success is None else bool(success),
            name=name,
            selected=extra.get("selected"),
        )


def _read_obs(group: h5py.Group, name: str, length: int, layout: _Layout, path: Path) -> Array:
    """The chosen keys side by side, (T, S), or the one image."""
    obs = hdf5.subgroup(group, "obs", path)
    there = hdf5.names(obs, path)
    joined = np.empty((0 if layout.image else length, sum(layout.widths)), np.float32)
    end = 0
    for key, width in zip(layout.keys, layout.widths, strict=True):
        part = numbers(obs, key, path, known=key in there)
        rows = len(part) if part.ndim else 0
        if rows != length:
            raise FormatError(
                f"{path}: demo {name!r} has {rows} rows of obs/{key} but {length} actions; "
                "each action needs the state at which it was shown"
            )
        if _is_image(part) != layout.image or (not layout.image and _width(part) != width):
            raise FormatError(
                f"{path}: obs/{key} of demo {name!r} has {_width(part)} numbers a row; "
                f"the first demo has {width}; all must agree"
            )
        if layout.image:
            return _kept(part)
        joined[:, end : end + width] = part.reshape(length, width)
        end += width
    return _kept(joined)


def _kept(array: Array) -> Array:
    """As an `Episode` holds it, so that it need not copy: read-only, float32 unless an image."""
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    array.setflags(write=False)
    return array


# The parts of the header


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
    images = [k for k in keys if _is_image(dataset(group, f"obs/{k}", path))]
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
    masks = {
        m: hdf5.strings(member(group, m, path), f"mask/{m}", path) for m in hdf5.names(group, path)
    }
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
    data: h5py.Group, first: h5py.Group, keys: Sequence[str], foreign: bool, path: Path
) -> tuple[str, ...]:
    """What the first demo and `data` hold beyond what is read."""
    known = _READ | (set() if foreign else _OURS | {"dones"})
    out = [f"obs/{k}" for k in hdf5.names(first["obs"], path) if k not in keys]
    out += [k for k in hdf5.names(first, path) if k not in known]
    with guarded(path):
        attributes = sorted({*data.attrs, *first.attrs} - known)
    read = [dataset(first, k, path) for k in ("actions", *(f"obs/{k}" for k in keys))]
    wide = any(d.dtype.kind != "u" and d.dtype.itemsize > 4 for d in read)
    out += [f"attribute {a}" for a in attributes]
    return (*out, *(["digits beyond 32 bits"] if wide else []))


def _is_image(values: Any) -> bool:
    """Frames (uint8) and depth maps, as opposed to vectors and small matrices."""
    return bool(values.ndim >= 4 or (values.ndim == 3 and values.dtype == np.uint8))


def _width(values: Any) -> int:
    """How many numbers a row holds."""
    return math.prod(values.shape[1:])
