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

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.demonstrations import Demonstrations
from counterbc.episode import Array, Episode
from counterbc.errors import FormatError
from counterbc.formats import hdf5
from counterbc.formats.hdf5 import base, dataset, from_json, listed, numbers, text

_ROBOSUITE = 1  # the `type` of env_args whose actions live in [-1, 1]
_OPERATOR_MASK = re.compile(r"(worse|okay|better)_operator_[12]")
_DEMO = re.compile(r"demo_(0|[1-9][0-9]*)")


def read(path: str | Path, obs: Sequence[str] | None = None) -> Demonstrations:
    """Read a file; `obs` names the observation keys to use, in that order.

    Without `obs`, all low-dimensional keys are joined in sorted order and images are left out; a
    file with one image key and nothing else is read as images.
    """
    path = Path(path)
    with hdf5.opened(path) as file:
        return _read_file(file, path, obs)


def _read_file(file: h5py.File, path: Path, wanted: Sequence[str] | None) -> Demonstrations:
    data = file.get("data")
    if not isinstance(data, h5py.Group):
        raise FormatError(
            f"{path} has no group 'data', it has {listed(file)}; "
            "robomimic files keep their demos in data/demo_0, data/demo_1, …"
        )
    groups = [data[name] for name in _ordered(data) if isinstance(data[name], h5py.Group)]
    if not groups:
        raise FormatError(f"{path} has no demos in its group 'data'; record at least one")
    foreign = "written_by" not in data.attrs
    names = {base(g): text(g.attrs.get("name", base(g))) for g in groups}
    masks = _read_masks(file, path)
    keys = _choose_keys(groups[0], path, wanted)
    known_keys = from_json(data, "obs_keys", path, [])
    if wanted is None and {k for k, _ in known_keys} == set(keys):
        keys = [k for k, _ in known_keys]
    widths = [_width(dataset(groups[0], f"obs/{key}", path)) for key in keys]
    operators = _mask_operators(masks) if foreign else {}
    episodes = [_read_demo(g, names[base(g)], keys, widths, operators, path) for g in groups]
    image = episodes[0].obs.ndim > 2
    env_args = from_json(data, "env_args", path, {})
    return Demonstrations(
        episodes=tuple(episodes),
        **_read_bounds(data, env_args, foreign, episodes[0].action.shape[1]),
        action_names=tuple(from_json(data, "action_names", path, [])),
        obs_names=() if image else _read_obs_names(data, known_keys, keys, path),
        obs_keys=() if image else tuple(zip(keys, widths, strict=True)),
        rate=_read_rate(data, env_args, foreign),
        env_args=env_args,
        masks={m: tuple(names.get(n, n) for n in members) for m, members in masks.items()},
        source=str(path),
        selected=_read_selected(groups, episodes, path),
    )


def _read_demo(
    group: h5py.Group,
    name: str,
    keys: Sequence[str],
    widths: Sequence[int],
    operators: Mapping[str, str],
    path: Path,
) -> Episode:
    action = numbers(group, "actions", path)
    parts = [numbers(group, f"obs/{key}", path) for key in keys]
    for key, width, part in zip(keys, widths, parts, strict=True):
        if len(part) != len(action):
            raise FormatError(
                f"{path}: demo {name!r} has {len(part)} rows of obs/{key} but {len(action)} actions"
                "; each action needs the state at which it was shown"
            )
        if not _is_image(part) and _width(part) != width:
            raise FormatError(
                f"{path}: obs/{key} of demo {name!r} has {_width(part)} numbers a row; "
                f"the first demo has {width}; all must agree"
            )
    count = group.attrs.get("num_samples", len(action))
    if int(count) != len(action):
        raise FormatError(
            f"{path}: demo {name!r} says it has {count} samples but holds {len(action)} actions; "
            "repair its attribute num_samples"
        )
    operator, success = group.attrs.get("operator"), group.attrs.get("success")
    image = _is_image(parts[0])
    flat = [p.reshape(len(p), w) for p, w in zip(parts, widths, strict=True) if not image]
    return Episode(
        obs=parts[0] if image else np.concatenate(flat, axis=1),
        action=action,
        reward=numbers(group, "rewards", path) if "rewards" in group else None,
        operator=operators.get(base(group)) if operator is None else text(operator),
        success=None if success is None else bool(success),
        name=name,
    )


def _choose_keys(group: h5py.Group, path: Path, wanted: Sequence[str] | None) -> list[str]:
    """The observation keys to read: the wanted ones, or all that are vectors, or the one image."""
    found = group.get("obs")
    keys = sorted(found) if isinstance(found, h5py.Group) else []
    if not keys:
        raise FormatError(
            f"{path}: demo {base(group)!r} has no observations, it has {listed(group)}; "
            "make them from its states with robomimic's dataset_states_to_obs.py"
        )
    if wanted is not None:
        for key in wanted:
            if key not in keys:
                raise FormatError(f"{path} has no obs/{key}; allowed: {', '.join(keys)}")
        keys = list(wanted)
    images = [k for k in keys if _is_image(dataset(group, f"obs/{k}", path))]
    vectors = [k for k in keys if k not in images]
    if wanted is not None and images and (vectors or len(images) > 1):
        raise FormatError(
            f"{path}: cannot join {', '.join(keys)}; choose one image, or vectors only"
        )
    if not keys or (not vectors and len(images) > 1):
        raise FormatError(
            f"{path} has several kinds of observations and none was chosen; "
            f"name one of {', '.join(sorted(found))} with robomimic.read(path, obs=[…])"
        )
    return vectors or images


def _read_bounds(
    data: h5py.Group, env_args: Mapping[str, Any], foreign: bool, width: int
) -> dict[str, Any]:
    if "action_low" in data.attrs and "action_high" in data.attrs:
        found = {k: np.asarray(data.attrs[k]) for k in ("action_low", "action_high")}
        return {**found, "action_set": text(data.attrs.get("action_set", "box"))}
    if foreign and env_args.get("type") == _ROBOSUITE:
        return {"action_low": -np.ones(width), "action_high": np.ones(width)}
    return {}


def _read_rate(data: h5py.Group, env_args: Mapping[str, Any], foreign: bool) -> float | None:
    if "rate" in data.attrs:
        return float(data.attrs["rate"])
    kwargs = env_args.get("env_kwargs")
    rate = kwargs.get("control_freq") if foreign and isinstance(kwargs, dict) else None
    return float(rate) if isinstance(rate, int | float) and rate > 0 else None


def _read_obs_names(
    data: h5py.Group, known: Sequence[tuple[str, int]], keys: Sequence[str], path: Path
) -> tuple[str, ...]:
    """The recorded names of the chosen keys' dimensions; empty where they are not all recorded."""
    names = from_json(data, "obs_names", path, [])
    if not set(keys) <= {k for k, _ in known} or len(names) != sum(w for _, w in known):
        return ()
    ends = np.cumsum([w for _, w in known])
    of_key = {k: names[end - w : end] for (k, w), end in zip(known, ends, strict=True)}
    return tuple(name for key in keys for name in of_key[key])


def _read_masks(file: h5py.File, path: Path) -> dict[str, tuple[str, ...]]:
    masks = {}
    for name, members in file["mask"].items() if "mask" in file else ():
        if not isinstance(members, h5py.Dataset) or not h5py.check_string_dtype(members.dtype):
            raise FormatError(f"{path}: mask/{name} is not a list of demo names; remove it")
        masks[name] = tuple(str(n) for n in np.atleast_1d(members.asstr("utf-8")[()]))
    return masks


def _mask_operators(masks: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Multi-Human files tell who demonstrated in masks such as worse_operator_1 only."""
    tiers = {m: names for m, names in masks.items() if _OPERATOR_MASK.fullmatch(m)}
    return {name: mask for mask, names in tiers.items() for name in names}


def _read_selected(
    groups: Sequence[h5py.Group], episodes: Sequence[Episode], path: Path
) -> Array | None:
    if not any("selected" in g for g in groups):
        return None
    chosen = []
    for group, episode in zip(groups, episodes, strict=True):
        part = numbers(group, "selected", path) if "selected" in group else np.ones(len(episode))
        if part.shape != (len(episode),):
            raise FormatError(
                f"{path}: selected of demo {episode.name!r} has shape {part.shape}; "
                f"expected ({len(episode)},)"
            )
        chosen.append(part.astype(bool))
    return np.flatnonzero(np.concatenate(chosen))


def _ordered(group: h5py.Group) -> list[str]:
    """demo_2 before demo_10; other names after them, by name."""
    numbers = {n: int(m[1]) for n in group if (m := _DEMO.fullmatch(n))}
    return sorted(group, key=lambda n: (n not in numbers, numbers.get(n, 0), n))


def _is_image(values: Any) -> bool:
    """Frames (uint8) and depth maps, as opposed to vectors and small matrices."""
    return bool(values.ndim >= 4 or (values.ndim == 3 and values.dtype == np.uint8))


def _width(values: Any) -> int:
    """How many numbers a row holds."""
    return int(np.prod(values.shape[1:], dtype=int))


def write(demos: Demonstrations, path: str | Path) -> None:
    """Write a file that `read` gives back unchanged; all of it, or nothing."""
    names = [*demos.masks, *(key for key, _ in demos.obs_keys)]
    bad = [n for n in names if n in ("", ".") or "/" in n or "\0" in n]
    bad += [m for members in demos.masks.values() for m in members if "\0" in m]
    if bad:
        raise FormatError(f"{bad[0]!r} cannot be a name in an HDF5 file; rename that mask or key")
    with hdf5.created(Path(path)) as file:
        _write_file(file, demos)


def _write_file(file: h5py.File, demos: Demonstrations) -> None:
    data = file.create_group("data")
    data.attrs["total"] = sum(len(e) for e in demos.episodes)
    data.attrs["env_args"] = json.dumps(dict(demos.env_args))
    data.attrs["written_by"] = "counterbc"
    if demos.action_low is not None and demos.action_high is not None:
        data.attrs["action_low"] = demos.action_low
        data.attrs["action_high"] = demos.action_high
        data.attrs["action_set"] = demos.action_set
    for key in ("action_names", "obs_names", "obs_keys"):
        data.attrs[key] = json.dumps(getattr(demos, key))
    if demos.rate is not None:
        data.attrs["rate"] = float(demos.rate)
    names = _names_in_file(demos)
    chosen = np.isin(np.arange(data.attrs["total"]), demos.learned)
    starts = np.cumsum([0, *(len(e) for e in demos.episodes)])
    for episode, start in zip(demos.episodes, starts[:-1], strict=True):
        group = data.create_group(names[episode.name])
        _write_demo(group, episode, demos.obs_keys)
        if demos.selected is not None:
            group["selected"] = chosen[start : start + len(episode)]
    for mask, members in demos.masks.items():
        encoded = [names.get(m, m).encode() for m in members]
        width = max(map(len, encoded), default=0)
        file[f"mask/{mask}"] = np.array(encoded, dtype=f"S{max(width, 1)}")


def _write_demo(group: h5py.Group, episode: Episode, obs_keys: Sequence[tuple[str, int]]) -> None:
    group.attrs["num_samples"] = len(episode)
    if episode.name != base(group):
        group.attrs["name"] = episode.name
    if episode.operator is not None:
        group.attrs["operator"] = episode.operator
    if episode.success is not None:
        group.attrs["success"] = episode.success
    group["actions"] = episode.action
    if episode.reward is not None:
        group["rewards"] = episode.reward
    group["dones"] = np.eye(1, len(episode), len(episode) - 1, dtype=np.int64)[0]  # 0 … 0 1
    if not obs_keys:
        group["obs/image"] = episode.obs
    end = 0
    for key, width in obs_keys:
        group[f"obs/{key}"] = episode.obs[:, end : end + width]
        end += width


def _names_in_file(demos: Demonstrations) -> dict[str, str]:
    """Each episode's name in the file: its own, or a new demo_i, as robomimic reads no others.

    Own names are kept when they are demo_i in rising order, which is the order of reading. New
    numbers start above those of absent demos that masks mention.
    """
    own = [e.name for e in demos.episodes]
    numbers = [int(m[1]) for n in own if (m := _DEMO.fullmatch(n))]
    if len(numbers) == len(own) and numbers == sorted(numbers):
        return dict(zip(own, own, strict=True))
    absent = {n for names in demos.masks.values() for n in names} - set(own)
    taken = [int(m[1]) for n in absent if (m := _DEMO.fullmatch(n))]
    first = max(taken, default=-1) + 1
    return {name: f"demo_{first + i}" for i, name in enumerate(own)}
