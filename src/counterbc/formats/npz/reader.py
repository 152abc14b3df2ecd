"""Read .npz episode by episode, in the layout that the package describes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import FormatError
from counterbc.files import Guard
from counterbc.formats.extras import Extras, lost_digits
from counterbc.formats.npz.cameras import camera_arrays, split_choice
from counterbc.formats.npz.counterbc_json import read_counterbc, read_env_args
from counterbc.formats.npz.declarations import ARRAYS, read_angles, read_bounds, read_rate
from counterbc.formats.npz.members import Members
from counterbc.formats.rows import dimension_names, join, lengths_from_ends, runs, vector_keys
from counterbc.formats.stream import Header, RawEpisode, Stream

_LABELS = {"reward", "episode", "episode_ends", "operator", "selected", "counterbc"}
_OBS, _ACTION = ("obs",), ("action",)
_SIMILAR = 0.8  # of the letters; a misspelling has as many


def recognizes(path: Path) -> bool:
    """Return whether a path is a zip archive, as every .npz file is."""
    if not path.is_file():
        return False
    with Guard(path), path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def stream(
    path: str | Path, obs: Sequence[str] | None = None, action: Sequence[str] | None = None
) -> Stream:
    """Open a file; `obs` and `action` name arrays, or `obs` the keys of the array `obs`.

    Without `counterbc` the array `obs` has the single key `state`.
    """
    path = Path(path)
    with Members(path) as members:
        extras = read_counterbc(members) if "counterbc" in members.names else None
        all_cameras = camera_arrays(members, None if extras is None else extras.cameras)
        is_all = obs is None and extras is not None  # what was written is read
        obs, cameras = split_choice(obs, all_cameras, is_all)
        arrays = _choose_arrays(members, obs, action, cameras)
        _check_names(members, arrays)
        obs_shapes, shapes = ([members.shape(n) for n in names] for names in arrays[:2])
        total, is_obs = _check_rows(members, arrays), arrays.obs == _OBS
        keys = ("state",) if is_obs else arrays.obs
        of_obs = next((n for n, array in all_cameras.items() if (array,) == arrays.obs), "")
        header = Header(
            obs_keys=vector_keys(keys, obs_shapes, str(path)),
            action_names=() if arrays.action == _ACTION else dimension_names(arrays.action, shapes),
            camera=of_obs,
            blind_to=tuple(n for n in all_cameras if n not in arrays.images and n != of_obs),
            source=str(path),
            left_out=_left_out(members, arrays),
        )
        if extras is not None:
            extras, header = _add_extras(members, extras, header, arrays)
        header = replace(header, **_declared(members, header, arrays, shapes))
        entries = _read_entries(members, total)
    if extras is not None:
        extras.check_fits([entry.length for entry in entries], f"{path}: counterbc")
    raw_episodes = _raw_episodes(path, entries, arrays)
    if extras is not None:
        raw_episodes = (extras.restore(raw, i) for i, raw in enumerate(raw_episodes))
    names_array = obs is not None and tuple(obs) == _OBS and "obs" not in dict(header.obs_keys)
    choose = is_obs and not names_array and not header.camera
    return Stream(header, raw_episodes).choose(obs if choose else None)


def _declared(
    members: Members, header: Header, arrays: _Arrays, shapes: Sequence[tuple[int, ...]]
) -> dict[str, Any]:
    """Return what small arrays declare; the bounds are not those of another action by choice."""
    facts = read_angles(members, header) | read_rate(members)
    if arrays.action != _ACTION and "action" in members.names:
        return facts
    return facts | read_bounds(members, sum(s[-1] if len(s) > 1 else 1 for s in shapes))


class _Arrays(NamedTuple):
    """The names of the arrays that are observation and action, and those of cameras by name."""

    obs: tuple[str, ...]
    action: tuple[str, ...]
    images: dict[str, str]


def _choose_arrays(
    members: Members,
    obs: Sequence[str] | None,
    action: Sequence[str] | None,
    cameras: dict[str, str],
) -> _Arrays:
    """Return the arrays to read; names that are no arrays are keys of the array `obs`.

    Where there is no vector among them, the first camera is the observation.
    """
    is_array = obs is not None and all(name in members.names for name in obs)
    arrays = tuple(obs) if obs and is_array else _OBS
    if cameras and (obs == [] or (obs is None and "obs" in cameras.values())):
        first, *rest = cameras.items()
        arrays, cameras = (first[1],), dict(rest)
    return _Arrays(arrays, tuple(action or _ACTION), cameras)


def _check_names(members: Members, arrays: _Arrays) -> None:
    """Refuse an array whose name looks like a misspelling: its rows would silently be left out."""
    names = {*_LABELS, *arrays.obs, *arrays.action, *arrays.images.values()}
    for name in members.names:
        absent = [n for n in names if n not in members.names]
        if name not in names and (nearest := get_close_matches(name, absent, 1, _SIMILAR)):
            choice = f", choose it with --{nearest[0]}" if nearest[0] in ("obs", "action") else ""
            raise FormatError(
                f"{members.path} has an array named {name!r}, which looks like {nearest[0]}; "
                f"rename it to that{choice}, or rename it to something else"
            )


def _left_out(members: Members, arrays: _Arrays) -> tuple[str, ...]:
    """Return what the file holds that is not read."""
    names = {*_LABELS, *ARRAYS, *arrays.obs, *arrays.action, *arrays.images.values()}
    numbers = [n for n in members.names if n in {*arrays.obs, *arrays.action, "reward"}]
    digits = lost_digits(members.rows(n).take(0).dtype for n in numbers)
    return (*(n for n in members.names if n not in names), *digits)


@dataclass(frozen=True)
class _Entry:
    """The number of rows of an episode, its name and its operator."""

    length: int
    name: str
    operator: str | None


def _raw_episodes(path: Path, entries: Sequence[_Entry], arrays: _Arrays) -> Iterator[RawEpisode]:
    with Members(path) as members:
        obs, action = ([members.rows(name) for name in names] for names in arrays[:2])
        images = {name: members.rows(array) for name, array in arrays.images.items()}
        reward = members.rows("reward") if "reward" in members.names else None
        selected = members.rows("selected") if "selected" in members.names else None
        for entry in entries:
            yield RawEpisode(
                obs=join([rows.take(entry.length) for rows in obs]),
                action=join([rows.take(entry.length) for rows in action]),
                reward=None if reward is None else reward.take(entry.length),
                operator=entry.operator,
                name=entry.name,
                selected=None if selected is None else selected.take(entry.length),
                images={name: rows.take(entry.length) for name, rows in images.items()},
            )


def _check_rows(members: Members, arrays: _Arrays) -> int:
    """Return the number of rows, which must be the same in all arrays."""
    first = arrays.action[0]
    total = members.shape(first)[0]
    images = arrays.images.values()
    for name in (*arrays.obs, *images, *arrays.action, "reward", "episode", "selected"):
        rows = members.shape(name)[0] if name in members.names else total
        if rows != total:
            raise FormatError(
                f"{members.path}: {name} has {rows} rows but {first} has {total}; "
                "save one row per pair in each array"
            )
    return total


def _read_entries(members: Members, total: int) -> list[_Entry]:
    if "episode_ends" in members.names:
        label = f"{members.path}: episode_ends"
        lengths = lengths_from_ends(members.array("episode_ends"), total, label)
        names = [f"demo_{i}" for i in range(len(lengths))]
    elif "episode" in members.names and total:
        names, lengths = runs(members.array("episode"), f"{members.path}: episode")
    else:
        names, lengths = ["demo_0"], np.array([total])
    operators = _read_operators(members, lengths, total)
    return [_Entry(*row) for row in zip(lengths.tolist(), names, operators, strict=True)]


def _read_operators(members: Members, lengths: Array, total: int) -> list[str | None]:
    """Return the operator of each episode; an empty text means unknown."""
    if "operator" not in members.names:
        return [None] * len(lengths)
    values = members.array("operator")
    if values.shape == (total,) and total != len(lengths):
        first = np.cumsum(lengths) - lengths
        changes = np.flatnonzero(values != np.repeat(values[first], lengths))
        if len(changes):
            raise FormatError(
                f"{members.path}: the operator changes within an episode, in row {changes[0]}; "
                "split that episode"
            )
        values = values[first]
    if values.shape != (len(lengths),):
        raise FormatError(
            f"{members.path}: operator has shape {values.shape}; expected one for each of {total} "
            f"rows or {len(lengths)} episodes; save it in one of these shapes"
        )
    texts = [
        o.decode(errors="replace") if isinstance(o, bytes) else str(o) for o in values.tolist()
    ]
    return [o or None for o in texts]


def _add_extras(
    members: Members, extras: Extras, header: Header, arrays: _Arrays
) -> tuple[Extras, Header]:
    """Return what our writer stored in `counterbc`, and the header completed by it.

    What it says about the arrays `obs` and `action` is left out for other ones.
    """
    env_args = read_env_args(members)
    if arrays.action != _ACTION:
        extras = extras.without_action()
    header = replace(header, **extras.header, env_args=env_args)
    if arrays.obs != _OBS or header.camera:
        return extras, header
    keys = extras.obs_keys or header.obs_keys
    return extras, replace(header, obs_keys=keys, obs_names=extras.obs_names)
