"""D4RL: a flat HDF5 file that holds all episodes end to end. Read only.

    observations (N, S)    actions (N, A)    rewards (N,)    terminals (N,)    timeouts (N,)

An episode ends where terminals or timeouts is set. Rows after the last end are an episode too.
`rewards` and one of `terminals` and `timeouts` may be missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import FormatError
from counterbc.files import Guard
from counterbc.formats import hdf5
from counterbc.formats.extras import lost_digits
from counterbc.formats.rows import Rows, column
from counterbc.formats.stream import Header, RawEpisode, Stream
from counterbc.formats.untrusted import MAX_EPISODES, check_at_most

_READ = ("observations", "actions", "rewards", "terminals", "timeouts")


def recognizes(path: Path) -> bool:
    """Return whether a path is an HDF5 file with `observations` and `actions` at its root."""
    if not path.is_file() or not h5py.is_hdf5(path):
        return False
    with hdf5.open_file(path) as file:
        members = [hdf5.member(file, key, path) for key in _READ[:2]]
        return all(isinstance(member, h5py.Dataset) for member in members)


def stream(path: str | Path, obs: Sequence[str] | None = None) -> Stream:
    """Open a file; its observation has the single key `state`."""
    path = Path(path)
    with hdf5.open_file(path) as file:
        lengths = _lengths(file, path)
        observations = hdf5.dataset(file, "observations", path)
        image = observations.ndim > 2
        width = 1 if observations.ndim == 1 else observations.shape[-1]
        header = Header(
            obs_keys=() if image else (("state", width),),
            source=str(path),
            left_out=_left_out(file, path),
        )
    return Stream(header, _raw_episodes(path, lengths)).choose(obs)


def _left_out(file: h5py.File, path: Path) -> tuple[str, ...]:
    """Return what the file holds that is not read."""
    names = hdf5.names(file, path)
    with Guard(path):
        attributes = sorted(file.attrs)
    dtypes = [hdf5.dataset(file, key, path).dtype for key in _READ[:3] if key in names]
    return (
        *(key for key in names if key not in _READ),
        *(f"attribute {a}" for a in attributes),
        "whether terminals or timeouts ended an episode",
        *lost_digits(dtypes),
    )


def _raw_episodes(path: Path, lengths: Array) -> Iterator[RawEpisode]:
    with hdf5.open_file(path) as file:
        observations, actions = (_rows(file, key, path) for key in _READ[:2])
        rewards = _rows(file, "rewards", path) if hdf5.holds(file, "rewards", path) else None
        for i, length in enumerate(lengths.tolist()):
            yield RawEpisode(
                obs=column(observations.take(length)),
                action=column(actions.take(length)),
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


def _lengths(file: h5py.File, path: Path) -> Array:
    """Return the length of each episode."""
    total = _total(hdf5.dataset(file, "actions", path))
    for key in _READ:
        rows = _total(hdf5.dataset(file, key, path)) if hdf5.holds(file, key, path) else total
        if rows != total:
            raise FormatError(
                f"{path}: {key} has {rows} rows but actions has {total}; "
                "all arrays must have one row per pair"
            )
    marks = [k for k in ("terminals", "timeouts") if hdf5.holds(file, k, path)]
    if not marks:
        raise FormatError(
            f"{path} has neither terminals nor timeouts, so the ends of its episodes are unknown; "
            "add one of them"
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
