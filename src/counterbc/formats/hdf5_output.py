"""HDF5 files that are written: with checksums, and without a crash on a full disk.

The HDF5 library may crash the process if a write fails. So it writes to a `Spill`, which never
fails: what the disk does not take is kept in memory until the error is raised in Python.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.data.arrays import Array
from counterbc.files import aside, check_free, reason

_CHUNK = 2**20  # bytes of data per checksum
VERSION = ("v110", "v110")  # older ones take 2 kB for the index of each small dataset


class Spill:
    """A file whose writes never fail; `error` is the first failure of the disk, if any."""

    def __init__(self, path: Path, mode: str) -> None:
        self._file = path.open(mode, buffering=0)
        self._position, self._end = 0, os.fstat(self._file.fileno()).st_size
        self._rest: list[tuple[int, bytes]] = []  # what the disk did not take, by its place
        self.error: OSError | None = None

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._end}[whence]
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def write(self, content: Any) -> int:
        view = memoryview(content).cast("B")
        size = 0
        while size < len(view) and self.error is None:
            try:
                size += os.pwrite(self._file.fileno(), view[size:], self._position + size)
            except OSError as error:
                self.error = error
        if size < len(view):
            self._rest.append((self._position + size, bytes(view[size:])))
        self._position += len(view)
        self._end = max(self._end, self._position)
        return len(view)

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        begin, size = self._position, max(0, min(len(view), self._end - self._position))
        content = os.pread(self._file.fileno(), size, begin)
        view[:size] = content.ljust(size, b"\0")
        for place, rest in self._rest:
            low, high = max(place, begin), min(place + len(rest), begin + size)
            if low < high:
                view[low - begin : high - begin] = rest[low - place : high - place]
        self._position += size
        return size

    def read(self, size: int) -> bytes:
        buffer = bytearray(size)
        return bytes(buffer[: self.readinto(buffer)])

    def truncate(self, size: int) -> int:
        self._end = size
        if self.error is None:
            try:
                os.ftruncate(self._file.fileno(), size)
            except OSError as error:
                self.error = error
        return size

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True)
class Output:
    """An HDF5 file that is being written."""

    file: h5py.File
    spill: Spill

    def put(self, group: h5py.Group, key: str, values: Any) -> h5py.Dataset:
        """Write a dataset with a checksum of every megabyte; raise the error of a full disk."""
        array = np.asarray(values)
        chunks: Mapping[str, Any] = {}
        if array.size:
            chunks = {"chunks": _chunks(array), "fletcher32": True}
        dataset = group.create_dataset(key, data=array, **chunks)
        self.check()
        return dataset

    def put_numbers(self, group: h5py.Group, name: str, values: Any) -> None:
        """Write the same dataset of numbers by fewer calls, for files of many small ones.

        `name` is without a folder.
        """
        array = np.asarray(values, order="C")
        if not array.size or array.dtype.kind not in "biuf":
            self.put(group, name, array)
            return
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk(_chunks(array))
        properties.set_fletcher32()
        properties.set_obj_track_times(False)
        kind, space = h5py.h5t.py_create(array.dtype, logical=1), _space(array.shape)
        dataset = h5py.h5d.create(group.id, name.encode(), kind, space, dcpl=properties)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, array)
        self.check()

    def check(self) -> None:
        """Raise the error of the disk, if there was one."""
        if self.spill.error is not None:
            raise self.spill.error


def _chunks(array: Array) -> tuple[int, ...]:
    """Return the shape of the pieces of an array that have a checksum each."""
    rows = max(1, _CHUNK * len(array) // array.nbytes)
    return (min(len(array), rows), *array.shape[1:])


@lru_cache(maxsize=64)
def _space(shape: tuple[int, ...]) -> Any:
    return h5py.h5s.create_simple(shape)


@contextmanager
def new_file(path: Path) -> Iterator[Output]:
    """Create an HDF5 file under a temporary name; rename it when complete, else delete it."""
    check_free(path)
    with aside(path) as temporary, open_to_write(temporary, "x+b", libver=VERSION) as output:
        yield output


@contextmanager
def open_to_write(path: Path, mode: str = "r+b", **options: Any) -> Iterator[Output]:
    """Open an HDF5 file to write to; an error of the disk is an `OSError`."""
    spill = Spill(path, mode)
    try:
        with h5py.File(spill, "w" if mode == "x+b" else "r+", **options) as file:
            output = Output(file, spill)
            bound_cache(file)
            yield output
        output.check()
    except RuntimeError as error:  # of h5py
        raise OSError(reason(error)) from error
    finally:
        spill.close()


def bound_cache(file: h5py.File) -> None:
    """Limit the metadata cache, which takes hundreds of megabytes for ten thousand demos."""
    config = file.id.get_mdc_config()
    config.set_initial_size, config.initial_size = True, 2**20
    config.min_size, config.max_size = 2**20, 2**21
    file.id.set_mdc_config(config)
