"""The two ways in which Minari stores an episode: a group of an HDF5 file, or an Arrow table."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Protocol

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from counterbc.data.episode import Array
from counterbc.errors import FormatError
from counterbc.formats import frames, hdf5, json_files, parquet
from counterbc.formats.guard import guarded
from counterbc.formats.minari.spaces import Leaf

MAIN = "main_data.hdf5"


class Source(Protocol):
    """One episode of T steps."""

    steps: int

    def values(self, section: str, leaf: Leaf) -> Array:
        """The first T rows of observations or actions: (T, width), or (T, H, W, C) of an image."""

    def scalars(self, section: str) -> Array | None:
        """All rows of rewards or infos/success, where they are there."""


def of_hdf5(root: Path, episodes: int) -> Iterator[Source]:
    path = root / MAIN
    with hdf5.opened(path) as file:
        found = sum(name.startswith("episode_") for name in hdf5.names(file, path))
        if found != episodes:
            raise FormatError(
                f"{root / 'metadata.json'} says there are {episodes} episodes; {path} has {found}; "
                "copy or download the dataset again"
            )
        for i in range(episodes):
            group = hdf5.member(file, f"episode_{i}", path)
            if not isinstance(group, h5py.Group):
                raise FormatError(f"{path} has no episode_{i}; copy or download it again")
            yield _Group(group, path)


def names(root: Path, store: str) -> list[str]:
    """What any episode holds, such as rewards and infos/success; a damaged one is read later."""
    found: set[str] = set()
    if store == "hdf5":
        with hdf5.opened(root / MAIN) as file:
            for name in hdf5.names(file, root / MAIN):
                if name.startswith("episode_") and hdf5.is_group(file, name, root / MAIN):
                    found |= _names_in(hdf5.subgroup(file, name, root / MAIN), root / MAIN)
    for path in sorted(root.glob(f"*/*.{store}")) if store != "hdf5" else ():
        found |= _names_of(_schema(path, store))
    return sorted(found)


def _names_in(group: h5py.Group, path: Path) -> set[str]:
    there = set(hdf5.names(group, path))
    if "infos" in there and hdf5.is_group(group, "infos", path):
        inner = hdf5.names(hdf5.subgroup(group, "infos", path), path)
        there = there - {"infos"} | {f"infos/{name}" for name in inner}
    return there


def _names_of(schema: pa.Schema) -> set[str]:
    there = set(schema.names)
    if "infos" in there and pa.types.is_struct(schema.field("infos").type):
        inner = [field.name for field in schema.field("infos").type]
        there = there - {"infos"} | {f"infos/{name}" for name in inner}
    return there


def _schema(path: Path, kind: str) -> pa.Schema:
    with guarded(path):
        if kind == "parquet":
            return pq.read_schema(path)
        with pa.OSFile(str(path)) as source:
            return pa.ipc.open_file(source).schema


class _Group:
    def __init__(self, group: h5py.Group, path: Path) -> None:
        self._group, self._path = group, path
        self.steps = len(np.atleast_1d(hdf5.numbers(group, "rewards", path)))

    def values(self, section: str, leaf: Leaf) -> Array:
        parts = [f"_index_{p}" if isinstance(p, int) else p for p in leaf.path]
        key = "/".join([section, *parts])
        extra = 1 if section == "observations" else 0
        where = f"{self._path}: {key} of {hdf5.base(self._group)!r}"
        if leaf.image and (stored := self._encoded(key)) is not None:
            _check_rows(len(stored), self.steps + extra, where)
            return frames.decoded(stored[: self.steps], leaf.shape, where)
        found = hdf5.numbers(self._group, key, self._path)
        _check_rows(len(found) if found.ndim else 0, self.steps + extra, where)
        if (width := prod(found.shape[1:])) != leaf.width:
            raise FormatError(f"{where} has {width} numbers a row; its space {leaf.width}")
        return _shaped(found[: self.steps], leaf)

    def _encoded(self, key: str) -> list[bytes] | None:
        """Images as JPEG: rows of bytes, of different lengths or by chance of the same."""
        found = hdf5.member(self._group, key, self._path)
        if not isinstance(found, h5py.Dataset):
            return None
        if found.ndim == 1 and h5py.check_vlen_dtype(found.dtype) == np.uint8:
            with guarded(self._path):
                return [row.tobytes() for row in found[()]]
        if found.ndim == 2 and found.dtype == np.uint8:
            return [row.tobytes() for row in hdf5.numbers(self._group, key, self._path)]
        return None

    def scalars(self, section: str) -> Array | None:
        if hdf5.member(self._group, section, self._path) is None:
            return None
        return hdf5.numbers(self._group, section, self._path)


def of_arrow(root: Path, episodes: int, kind: str) -> Iterator[Source]:
    for i in range(episodes):
        folder = root / str(i)
        about = folder / "metadata.json"
        steps = json_files.count(json_files.load(about, dict), "total_steps", about)
        files = sorted(folder.glob(f"*.{kind}"))
        if not files:
            raise FormatError(f"{folder} has no {kind} file; copy or download the dataset again")
        tables = [_table(file, kind, steps + 1) for file in files]
        with guarded(folder):
            whole = pa.concat_tables(tables)
        yield _Table(whole, folder, steps)


def _table(path: Path, kind: str, most: int) -> pa.Table:
    if kind == "parquet":
        if (rows := parquet.count(path)) > most:
            raise FormatError(f"{path} has {rows} rows; its metadata.json says {most}")
        return parquet.table(path)
    with guarded(path):
        with pa.OSFile(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
        table.validate(full=True)  # Arrow believes what a file says of itself unless asked
        return table


class _Table:
    def __init__(self, table: pa.Table, path: Path, steps: int) -> None:
        self._table, self._path, self.steps = table, path, steps
        _check_rows(len(table), steps + 1, f"{path}: the table")  # actions are padded by a row

    def values(self, section: str, leaf: Leaf) -> Array:
        column = self._column(section, *map(str, leaf.path))
        where = f"{self._path}: {'.'.join([section, *map(str, leaf.path)])}"
        if column is None:
            raise FormatError(f"{where} is not there; the table has {self._table.column_names}")
        column = column[: self.steps]
        if leaf.image and pa.types.is_binary(column.type):
            return frames.decoded(column.to_pylist(), leaf.shape, where)
        return _shaped(parquet.numbers(column, leaf.width, section, self._path), leaf)

    def scalars(self, section: str) -> Array | None:
        column = self._column(*section.split("/"))
        if column is None:
            return None
        padded = section == "rewards"
        values = parquet.numbers(column, 1, section, self._path)[:, 0]
        return values[: self.steps] if padded else values

    def _column(self, section: str, *path: str) -> pa.Array | None:
        if section not in self._table.column_names:
            return None
        column = self._table[section].combine_chunks()
        for name in path:
            if not pa.types.is_struct(column.type) or column.type.get_field_index(name) < 0:
                return None
            column = column.field(name)
        return column


def _check_rows(found: int, expected: int, where: str) -> None:
    if found != expected:
        raise FormatError(
            f"{where} has {found} rows; expected {expected}: one for each step, and for "
            "observations one more; copy or download the dataset again"
        )


def _shaped(values: Array, leaf: Leaf) -> Array:
    """(T, width), or (T, H, W, C) of an image."""
    if leaf.image:
        return values.reshape(len(values), *leaf.shape[:2], -1).astype(np.uint8)
    return values.reshape(len(values), leaf.width)
