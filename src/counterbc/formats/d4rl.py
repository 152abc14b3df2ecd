"""D4RL: a flat HDF5 file that holds all episodes end to end. Read only.

    observations (N, S)    actions (N, A)    rewards (N,)    terminals (N,)    timeouts (N,)

An episode ends where terminals or timeouts is set. Rows after the last end are an episode too.
`rewards` and one of `terminals` and `timeouts` may be missing. Other datasets, such as infos/qpos,
can be chosen as observation or action.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import FormatError
from counterbc.files import Guard
from counterbc.formats import hdf5
from counterbc.formats.extras import lost_digits
from counterbc.formats.rows import Rows, dimension_names, join, vector_keys
from counterbc.formats.stream import Header, RawEpisode, Stream
from counterbc.formats.untrusted import MAX_EPISODES, check_at_most

_OBS, _ACTION = ("observations",), ("actions",)
_LABELS = ("rewards", "terminals", "timeouts")


def recognizes(path: Path) -> bool:
    """Return whether a path is an HDF5 file with `observations` and `actions` at its root."""
    if not path.is_file() or not h5py.is_hdf5(path):
        return False
    with hdf5.open_file(path) as file:
        members = [hdf5.member(file, key, path) for key in (*_OBS, *_ACTION)]
        return all(isinstance(member, h5py.Dataset) for member in members)


def stream(
    path: str | Path, obs: Sequence[str] | None = None, action: Sequence[str] | None = None
) -> Stream:
    """Open a file; `obs` and `action` name datasets, by default `observations` and `actions`.

    The key of `observations` is `state`.
    """
    path = Path(path)
    names = _OBS if obs is None else tuple("observations" if o == "state" else o for o in obs)
    arrays = _Arrays(path, names, tuple(action or _ACTION))
    with hdf5.open_file(path) as file:
        lengths = _lengths(file, arrays)
        obs_shapes = [hdf5.dataset(file, key, path).shape for key in arrays.obs]
        shapes = [hdf5.dataset(file, key, path).shape for key in arrays.action]
        keys = ["state" if key == "observations" else key for key in arrays.obs]
        header = Header(
            obs_keys=vector_keys(keys, obs_shapes, str(path)),
            action_names=() if action is None else dimension_names(arrays.action, shapes),
            source=str(path),
            left_out=_left_out(file, arrays),
        )
    return Stream(header, _raw_episodes(arrays, lengths))


@dataclass(frozen=True)
class _Arrays:
    """A file, and the names of its datasets that are observation and action."""

    path: Path
    obs: tuple[str, ...]
    action: tuple[str, ...]


def _left_out(file: h5py.File, arrays: _Arrays) -> tuple[str, ...]:
    """Return what the file holds that is not read."""
    path = arrays.path
    names = hdf5.names(file, path)
    with Guard(path):
        attributes = sorted(file.attrs)
    used_names = (*arrays.obs, *arrays.action)
    labels = [key for key in _LABELS[:1] if key in names]
    dtypes = [hdf5.dataset(file, key, path).dtype for key in (*used_names, *labels)]
    return (
        *(key for key in names if key not in {*used_names, *_LABELS}),
        *(f"attribute {a}" for a in attributes),
        "whether terminals or timeouts ended an episode",
        *lost_digits(dtypes),
    )


def _raw_episodes(arrays: _Arrays, lengths: Array) -> Iterator[RawEpisode]:
    path = arrays.path
    with hdf5.open_file(path) as file:
        observations = [_rows(file, key, path) for key in arrays.obs]
        actions = [_rows(file, key, path) for key in arrays.action]
        rewards = _rows(file, "rewards", path) if hdf5.holds(file, "rewards", path) else None
        for i, length in enumerate(lengths.tolist()):
            yield RawEpisode(
                obs=join([rows.take(length) for rows in observations]),
                action=join([rows.take(length) for rows in actions]),
                reward=None if rewards is None else rewards.take(length).reshape(length),
                name=f"demo_{i}",
            )


def _rows(file: h5py.File, key: str, path: Path) -> Rows:
    dataset = hdf5.dataset(file, key, path)

    def rows(start: int, stop: int) -> Array:
        with Guard(path):
            return np.asarray(dataset[start:stop])

    row_bytes = int(np.prod(dataset.shape[1:], dtype=int)) * int(dataset.dtype.itemsize)
    return Rows(rows, dataset.shape, row_bytes)


def _lengths(file: h5py.File, arrays: _Arrays) -> Array:
    """Return the length of each episode."""
    path, first = arrays.path, arrays.action[0]
    total = _total(hdf5.dataset(file, first, path))
    labels = [key for key in _LABELS if hdf5.holds(file, key, path)]
    for key in (*arrays.obs, *arrays.action, *labels):
        rows = _total(hdf5.dataset(file, key, path))
        if rows != total:
            raise FormatError(
                f"{path}: {key} has {rows} rows but {first} has {total}; "
                "all arrays must have one row per pair"
            )
    marks = [k for k in ("terminals", "timeouts") if hdf5.holds(file, k, path)]
    if not marks:
        raise FormatError(
            f"{path} has neither terminals nor timeouts, so the ends of its episodes are unknown; "
            f"it has {hdf5.listing(file, path)}; add terminals or timeouts, or save its arrays as "
            "npz (docs/formats.md has ten lines for it)"
        )
    over = np.zeros(total, bool)
    for key in marks:
        over |= hdf5.numbers(file, key, path).reshape(total) != 0
    ends = np.flatnonzero(over) + 1
    check_at_most(str(path), len(ends), MAX_EPISODES, "episodes")
    ends = ends if len(ends) and ends[-1] == total else np.append(ends, total)
    return np.diff(ends, prepend=0)


def _total(dataset: Any) -> int:
    """Return the number of rows; a scalar has none."""
    return int(dataset.shape[0]) if dataset.shape else 0
