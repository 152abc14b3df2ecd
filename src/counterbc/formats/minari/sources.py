"""The two ways in which Minari stores an episode: an HDF5 group or an Arrow table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from math import prod
from pathlib import Path
from typing import Protocol

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from counterbc.data.arrays import Array
from counterbc.errors import FormatError
from counterbc.files import Guard, check_regular
from counterbc.formats import frames, hdf5, json_files, parquet
from counterbc.formats.guard import check_content
from counterbc.formats.minari import arrow_file
from counterbc.formats.minari.spaces import Leaf

MAIN = "main_data.hdf5"


class Source(Protocol):
    """A stored episode of T steps."""

    steps: int

    def values(self, section: str, leaf: Leaf) -> Array:
        """Return the first T rows of observations or actions: (T, width), or (T, H, W, C)."""

    def scalars(self, section: str) -> Array | None:
        """Return all rows of rewards or infos/success, or None if there are none."""


def hdf5_sources(root: Path, episodes: int) -> Iterator[Callable[[], Source]]:
    """Yield a function that opens each episode of main_data.hdf5, which must have `episodes`."""
    path = root / MAIN
    with hdf5.open_file(path) as file:
        group_count = sum(name.startswith("episode_") for name in hdf5.names(file, path))
        if group_count != episodes:
            raise FormatError(
                f"{root / 'metadata.json'} declares {episodes} episodes, but {path} has "
                f"{group_count}; copy or download the dataset again"
            )
        for i in range(episodes):
            yield partial(_group, file, i, path)


def _group(file: h5py.File, index: int, path: Path) -> Source:
    group = hdf5.member(file, f"episode_{index}", path)
    if not isinstance(group, h5py.Group):
        raise FormatError(f"{path} has no group episode_{index}; copy or download it again")
    return _Group(group, path)


def member_names(root: Path, store: str) -> list[str]:
    """Return what any episode holds, such as rewards and infos/success."""
    names: set[str] = set()
    if store == "hdf5":
        with hdf5.open_file(root / MAIN) as file:
            for name in hdf5.names(file, root / MAIN):
                if name.startswith("episode_") and hdf5.is_group(file, name, root / MAIN):
                    names |= _group_names(hdf5.subgroup(file, name, root / MAIN), root / MAIN)
    for path in sorted(root.glob(f"*/*.{store}")) if store != "hdf5" else ():
        with suppress(FormatError):  # reading that episode says what is wrong with it
            names |= _column_names(_schema(path, store))
    return sorted(names)


def _group_names(group: h5py.Group, path: Path) -> set[str]:
    names = set(hdf5.names(group, path))
    if "infos" in names and hdf5.is_group(group, "infos", path):
        inner = hdf5.names(hdf5.subgroup(group, "infos", path), path)
        names = names - {"infos"} | {f"infos/{name}" for name in inner}
    return names


def _column_names(schema: pa.Schema) -> set[str]:
    names = set(schema.names)
    if "infos" in names and pa.types.is_struct(schema.field("infos").type):
        inner = [field.name for field in schema.field("infos").type]
        names = names - {"infos"} | {f"infos/{name}" for name in inner}
    return names


def _schema(path: Path, kind: str) -> pa.Schema:
    with Guard(path):
        check_regular(path)
        check_content(path)
        if kind == "parquet":
            return pq.read_schema(pa.OSFile(os.fsencode(path)))
        with pa.OSFile(os.fsencode(path)) as source:
            return pa.ipc.open_file(source).schema


class _Group:
    """An episode in a group of an HDF5 file."""

    def __init__(self, group: h5py.Group, path: Path) -> None:
        self._group, self._path = group, path
        self.steps = len(np.atleast_1d(hdf5.numbers(group, "rewards", path)))

    def values(self, section: str, leaf: Leaf) -> Array:
        parts = [f"_index_{p}" if isinstance(p, int) else p for p in leaf.path]
        key = "/".join([section, *parts])
        rows = self.steps + (1 if section == "observations" else 0)
        label = f"{self._path}: {key} of {hdf5.base(self._group)!r}"
        if leaf.image and (images := self._jpeg_rows(key)) is not None:
            _check_rows(len(images), rows, label)
            return frames.decode(images[: self.steps], leaf.shape, label)
        values = hdf5.numbers(self._group, key, self._path)
        _check_rows(len(values) if values.ndim else 0, rows, label)
        if (width := prod(values.shape[1:])) != leaf.width:
            raise FormatError(
                f"{label} has {width} numbers per row, but its space has {leaf.width}; "
                "copy or download the dataset again"
            )
        return _reshape(values[: self.steps], leaf)

    def _jpeg_rows(self, key: str) -> list[bytes] | None:
        """Return JPEG images as rows of bytes, whether or not their lengths differ."""
        dataset = hdf5.member(self._group, key, self._path)
        if not isinstance(dataset, h5py.Dataset):
            return None
        if dataset.ndim == 1 and h5py.check_vlen_dtype(dataset.dtype) == np.uint8:
            with Guard(self._path):
                return [row.tobytes() for row in dataset[()]]
        if dataset.ndim == 2 and dataset.dtype == np.uint8:
            return [row.tobytes() for row in hdf5.numbers(self._group, key, self._path)]
        return None

    def scalars(self, section: str) -> Array | None:
        if hdf5.member(self._group, section, self._path) is None:
            return None
        return hdf5.numbers(self._group, section, self._path)


def arrow_sources(root: Path, episodes: int, kind: str) -> Iterator[Callable[[], Source]]:
    """Yield a function that opens each episode, which has a folder of Arrow or Parquet files."""
    for i in range(episodes):
        yield partial(_open_tables, root / str(i), kind)


def _open_tables(folder: Path, kind: str) -> Source:
    metadata = folder / "metadata.json"
    steps = json_files.count(json_files.load(metadata, dict), "total_steps", metadata)
    files = sorted(folder.glob(f"*.{kind}"))
    if not files:
        raise FormatError(f"{folder} has no {kind} file; copy or download the dataset again")
    tables = [_table(file, kind, steps + 1) for file in files]
    with Guard(folder):
        whole = pa.concat_tables(tables)
    return _Table(whole, folder, steps)


def _table(path: Path, kind: str, max_rows: int) -> pa.Table:
    if kind == "parquet":
        if (rows := parquet.count(path)) > max_rows:
            raise FormatError(
                f"{path} has {rows} rows, but its metadata.json declares {max_rows}; "
                "copy or download the dataset again"
            )
        return parquet.table(path)
    return arrow_file.read_table(path)


class _Table:
    """An episode in an Arrow table."""

    def __init__(self, table: pa.Table, path: Path, steps: int) -> None:
        self._table, self._path, self.steps = table, path, steps
        _check_rows(len(table), steps + 1, f"{path}: the table")  # actions are padded by one row

    def values(self, section: str, leaf: Leaf) -> Array:
        column = self._column(section, *map(str, leaf.path))
        label = f"{self._path}: {'.'.join([section, *map(str, leaf.path)])}"
        if column is None:
            raise FormatError(
                f"{label} is missing; the table has "
                f"{', '.join(self._table.column_names)}; copy or download the dataset again"
            )
        column = column[: self.steps]
        if leaf.image and pa.types.is_binary(column.type):
            return frames.decode(column.to_pylist(), leaf.shape, label)
        return _reshape(parquet.numbers(column, leaf.width, section, self._path), leaf)

    def scalars(self, section: str) -> Array | None:
        column = self._column(*section.split("/"))
        if column is None:
            return None
        values = parquet.numbers(column, 1, section, self._path)[:, 0]
        return values[: self.steps] if section == "rewards" else values  # rewards are padded

    def _column(self, section: str, *path: str) -> pa.Array | None:
        if section not in self._table.column_names:
            return None
        column = self._table[section].combine_chunks()
        for name in path:
            if not pa.types.is_struct(column.type) or column.type.get_field_index(name) < 0:
                return None
            column = column.field(name)
        return column


def _check_rows(rows: int, expected_rows: int, label: str) -> None:
    if rows != expected_rows:
        raise FormatError(
            f"{label} has {rows} rows; expected {expected_rows}: one per step, and one more for "
            "observations; copy or download the dataset again"
        )


def _reshape(values: Array, leaf: Leaf) -> Array:
    """Return values as (T, width), or as (T, H, W, C) if they are an image."""
    if leaf.image:
        return values.reshape(len(values), *leaf.shape[:2], -1).astype(np.uint8)
    return values.reshape(len(values), leaf.width)
