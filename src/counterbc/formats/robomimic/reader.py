"""Read robomimic HDF5 demo by demo, in the layout that the package describes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.raw_episode import read_episode
from counterbc.errors import FormatError
from counterbc.files import Guard
from counterbc.formats import hdf5
from counterbc.formats.asked import asked_rows, is_asked
from counterbc.formats.hdf5 import member, numbers, text_of
from counterbc.formats.robomimic.layout import Layout, is_image, read_layout, width_of
from counterbc.formats.rows import column
from counterbc.formats.stream import RawEpisode, Stream


def recognizes(path: Path) -> bool:
    """Return whether a path is an HDF5 file with a group `data`."""
    if not path.is_file() or not h5py.is_hdf5(path):
        return False
    with hdf5.open_file(path) as file:
        return isinstance(member(file, "data", path), h5py.Group)


def stream(
    path: str | Path, obs: Sequence[str] | None = None, action: Sequence[str] | None = None
) -> Stream:
    """Open a file; `obs` names keys in the group obs of each demo, `action` datasets of a demo."""
    header_then_episodes = _header_then_episodes(Path(path), obs, action)
    return Stream(next(header_then_episodes), header_then_episodes)


def _header_then_episodes(
    path: Path, obs: Sequence[str] | None, action: Sequence[str] | None
) -> Iterator[Any]:
    """Yield the header, then each episode; opening the file twice takes as long as ten demos."""
    with hdf5.open_file(path) as file:
        layout = read_layout(file, path, obs, action)
        yield layout.header
        data = hdf5.subgroup(file, "data", path)
        for name in filter(lambda n: is_asked(layout.names[n]), layout.names):
            read = partial(_read_demo, data, name, layout, path)
            yield read_episode(layout.names[name], path, read)


def _read_demo(data: h5py.Group, file_name: str, layout: Layout, path: Path) -> RawEpisode:
    group = hdf5.subgroup(data, file_name, path, exists=True)
    name, datasets = layout.names[file_name], hdf5.names(group, path)
    action = _read_action(group, name, layout, path)
    count = hdf5.number_of(group, "num_samples", path)
    if count is not None and count != len(action):
        raise FormatError(
            f"{path}: demo {name!r} declares {count:g} samples but holds {len(action)} actions; "
            "repair its attribute num_samples"
        )
    operator, success = text_of(group, "operator", path), hdf5.number_of(group, "success", path)
    optional = [k for k in ("rewards", "selected") if k in datasets]
    values = {k: numbers(group, k, path, exists=True) for k in optional}
    rows = asked_rows(len(action))
    with np.errstate(over="ignore"):  # numbers beyond 32 bits become infinite and are reported
        images = _read_images(group, name, len(action), rows, layout, path)
        vector = _read_vector(group, name, len(action), layout, path) if layout.vectors else None
        raw = RawEpisode(
            obs=_as_stored(action) if vector is None else vector,
            action=_as_stored(action),
            reward=_as_stored(values["rewards"]) if "rewards" in values else None,
            operator=layout.operators.get(file_name) if operator is None else operator,
            success=None if success is None else bool(success),
            name=name,
            selected=values.get("selected"),
        ).take(rows)
    obs = images.pop(layout.cameras[0]) if vector is None else raw.obs
    return replace(raw, obs=obs, images=images)


def _read_action(group: h5py.Group, name: str, layout: Layout, path: Path) -> Array:
    """Return the datasets of the action side by side: (T, A)."""
    parts = [numbers(group, key, path) for key in layout.actions]
    for key, part in zip(layout.actions, parts, strict=True):
        if part.ndim == 0 or len(part) != len(parts[0]):
            rows = f"has {len(part)} rows" if part.ndim else "is a single number"
            raise FormatError(f"{path}: {key} of demo {name!r} {rows}; store one row per pair")
    return parts[0] if len(parts) == 1 else np.concatenate([column(p) for p in parts], axis=1)


def _read_vector(group: h5py.Group, name: str, length: int, layout: Layout, path: Path) -> Array:
    """Return the values of the vector keys side by side: (T, S)."""
    matrix = np.empty((length, sum(width for _, width in layout.vectors)), np.float32)
    end = 0
    for key, width in layout.vectors:
        part = _read_key(group, key, name, length, path)
        if is_image(part) or width_of(part) != width:
            raise FormatError(
                f"{path}: obs/{key} of demo {name!r} has {width_of(part)} numbers per row, but "
                f"{width} in the first demo; all demos must agree"
            )
        matrix[:, end : end + width] = part.reshape(length, width)
        end += width
    return _as_stored(matrix)


def _read_images(
    group: h5py.Group, name: str, length: int, rows: slice, layout: Layout, path: Path
) -> dict[str, Array]:
    """Return the images of each camera in these rows: (T, H, W, C) each."""
    images = {key: _read_key(group, key, name, length, path, rows) for key in layout.cameras}
    for key, values in images.items():
        if not is_image(values):
            raise FormatError(
                f"{path}: obs/{key} of demo {name!r} has {width_of(values)} numbers per row, but "
                "images in the first demo; all demos must agree"
            )
    return {key: _as_stored(values) for key, values in images.items()}


def _read_key(
    group: h5py.Group, key: str, name: str, length: int, path: Path, rows: slice | None = None
) -> Array:
    """Return some rows of an observation key, by default all; it has one for each action."""
    obs = hdf5.subgroup(group, "obs", path)
    if rows in (None, slice(0, length)):
        part = numbers(obs, key, path, exists=key in hdf5.names(obs, path))
        count = len(part) if part.ndim else 0
    else:
        values = hdf5.dataset(obs, key, path)
        count = len(values) if values.ndim else 0
        with Guard(path):
            part = values[rows]
    if count != length:
        raise FormatError(
            f"{path}: demo {name!r} has {count} rows of obs/{key} but {length} actions; "
            "record one observation per action"
        )
    return part


def _as_stored(array: Array) -> Array:
    """Return an array that an `Episode` need not copy: read-only, float32 unless an image."""
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    array.setflags(write=False)
    return array
