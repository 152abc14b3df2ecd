"""Flat HDF5 as D4RL lays it out: all episodes end to end.

    observations (N, S)    actions (N, A)    rewards (N,)    terminals (N,)    timeouts (N,)

An episode ends where terminals or timeouts is set; what follows the last end is an episode too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Array
from counterbc.errors import FormatError
from counterbc.formats import extras, hdf5
from counterbc.formats.guard import guarded
from counterbc.formats.rows import Rows, column
from counterbc.formats.stream import Header, RawEpisode, Stream

_READ = ("observations", "actions", "rewards", "terminals", "timeouts")


def recognizes(path: Path) -> bool:
    """An HDF5 file with datasets `observations` and `actions` at its root."""
    if not path.is_file() or not h5py.is_hdf5(path):
        return False
    with hdf5.opened(path) as file:
        found = [hdf5.member(file, key, path) for key in _READ[:2]]
        return all(isinstance(f, h5py.Dataset) for f in found)


def read(path: str | Path, obs: Sequence[str] | None = None) -> Demonstrations:
    return stream(path, obs).demonstrations()


def stream(path: str | Path, obs: Sequence[str] | None = None) -> Stream:
    """Episode by episode; the observation has the one key `state`."""
    path = Path(path)
    with hdf5.opened(path) as file:
        lengths = _lengths(file, path)
        observations = hdf5.dataset(file, "observations", path)
        image = observations.ndim > 2
        width = 1 if observations.ndim == 1 else observations.shape[-1]
        header = Header(
            obs_keys=() if image else (("state", width),),
            source=str(path),
            left_out=_left_out(file, path),
        )
    return Stream(header, _recordings(path, lengths)).choose(obs)


def _left_out(file: h5py.File, path: Path) -> tuple[str, ...]:
    """What the file holds beyond what is read."""
    there = hdf5.names(file, path)
    with guarded(path):
        attributes = sorted(file.attrs)
    read = [hdf5.dataset(file, key, path).dtype for key in _READ[:3] if key in there]
    return (
        *(key for key in there if key not in _READ),
        *(f"attribute {a}" for a in attributes),
        "terminals and timeouts apart: both become mere ends of episodes",
        *extras.lost_digits(read),
    )


def _recordings(path: Path, lengths: Array) -> Iterator[RawEpisode]:
    with hdf5.opened(path) as file:
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
    found = hdf5.dataset(file, key, path)

    def rows(start: int, stop: int) -> Array:
        with guarded(path):
            return np.asarray(found[start:stop])

    return Rows(rows, found.shape, _row_bytes(found))


def _row_bytes(found: h5py.Dataset) -> int:
    return int(np.prod(found.shape[1:], dtype=int)) * int(found.dtype.itemsize)


def _lengths(file: h5py.File, path: Path) -> Array:
    """The length of each episode."""
    total = _total(hdf5.dataset(file, "actions", path))
    for key in _READ:
        rows = _total(hdf5.dataset(file, key, path)) if hdf5.holds(file, key, path) else total
        if rows != total:
            raise FormatError(
                f"{path}: {key} has {rows} rows but actions has {total}; all must be as long"
            )
    marks = [k for k in ("terminals", "timeouts") if hdf5.holds(file, k, path)]
    if not marks:
        raise FormatError(
            f"{path} has neither terminals nor timeouts, so that its episodes cannot be told "
            "apart; add one of them"
        )
    over = np.zeros(total, bool)
    for key in marks:
        over |= hdf5.numbers(file, key, path).reshape(total) != 0
    ends = np.flatnonzero(over) + 1
    ends = ends if len(ends) and ends[-1] == total else np.append(ends, total)
    return np.diff(ends, prepend=0)


def _total(found: Any) -> int:
    """Rows; a scalar has none, and rewards of shape (N, 1) have N."""
    return int(found.shape[0]) if found.shape else 0
