"""The arrays of an .npz file, read row by row and never unpickled."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import FormatError
from counterbc.files import Guard
from counterbc.formats.rows import Rows
from counterbc.formats.untrusted import check_size

_END = 22  # bytes of the record at the end of a zip archive
_MANY = 0xFFFF  # arrays or more, which are counted elsewhere
_MAX_BYTES = 2**32  # of an array that is read as a whole, such as episode ids


class Members:
    """An open archive; `names` are the names of its arrays."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise FormatError(f"{path} is not a file; give the path of an .npz file")
        with Guard(path):
            self._zip = zipfile.ZipFile(path)
            entries = self._zip.infolist()
            self._check_count(len(entries))
            for entry in entries:  # refuses a name that differs from the one beside the data
                self._zip.open(entry).close()
        self._info = {e.filename.removesuffix(".npy"): e for e in entries}
        if len(self._info) < len(entries):
            raise FormatError(f"{path} has two arrays of the same name; save it again")
        self.names = tuple(self._info)
        for name in self.names:
            if ".." in Path(name).parts or name.startswith("/"):
                raise FormatError(f"{path}: {name!r} is not a valid name of an array; rename it")

    def _check_count(self, count: int) -> None:
        """Compare the number of arrays with the one at the end of the archive.

        Without it, damage could turn the entries of some arrays into the comment of another.
        """
        with self.path.open("rb") as file:
            file.seek(-_END - len(self._zip.comment), 2)
            record = file.read(_END)
        total = int.from_bytes(record[10:12], "little")
        if total not in (count, _MANY):
            raise ValueError(f"it declares {total} arrays, but lists {count}")

    def __enter__(self) -> Members:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._zip.close()

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of an array of one dimension or more."""
        stream, shape, _, _ = self._open(name, "biufUS" if name == "episode" else "biuf")
        stream.close()
        if not shape:
            raise FormatError(
                f"{self.path}: {name} is a single number; "
                "expected one row per pair; save an array with one row per pair"
            )
        return shape

    def is_image(self, name: str) -> bool:
        """Return whether an array holds images: (N, H, W, C) of bytes.

        One that cannot be read holds none: it matters only where it is chosen.
        """
        try:
            stream, shape, dtype, _ = self._open(name, "u")
        except FormatError:
            return False
        stream.close()
        return len(shape) == 4 and dtype == np.uint8

    def array(self, name: str) -> Array:
        """Read the whole of a small array of numbers or text."""
        stream, shape, dtype, fortran = self._open(name, "biufUS")
        size = math.prod(shape) * dtype.itemsize
        if size > _MAX_BYTES:
            raise FormatError(
                f"{self.path}: {name} has {size / 1e9:,.1f} GB; "
                f"at most {_MAX_BYTES / 1e9:,.1f} GB are read; save a smaller array"
            )
        with stream:
            flat = self._numbers(stream, math.prod(shape), dtype)
            self._check_end(stream, name)
        return flat.reshape(shape, order="F" if fortran else "C")

    def rows(self, name: str) -> Rows:
        """Return the rows of an array, which are read block by block."""
        stream, shape, dtype, fortran = self._open(name)
        width = math.prod(shape[1:])
        if fortran and len(shape) > 1:  # stored column by column: cannot be read row by row
            stream.close()
            whole = self.array(name)
            return Rows(lambda start, stop: whole[start:stop], shape, width * dtype.itemsize)

        def read(start: int, stop: int) -> Array:
            count = stop - start
            values = self._numbers(stream, count * width, dtype).reshape(count, *shape[1:])
            if stop == shape[0]:
                self._check_end(stream, name)
            return values

        return Rows(read, shape, width * dtype.itemsize)

    def _numbers(self, stream: IO[bytes], count: int, dtype: np.dtype[Any]) -> Array:
        with Guard(self.path):
            content = stream.read(count * dtype.itemsize)
            if dtype.itemsize == 0:
                return np.zeros(count, dtype)
            values = np.frombuffer(content, dtype)
            if len(values) != count:
                raise EOFError(f"{len(values)} of {count} values are stored")
            return values

    def _check_end(self, stream: IO[bytes], name: str) -> None:
        """Refuse bytes after the last value; reading the end also compares the checksum."""
        with Guard(self.path):
            if stream.read(1):
                raise ValueError(f"{name} has more bytes than its shape says")

    def _open(
        self, name: str, kinds: str = "biuf"
    ) -> tuple[IO[bytes], tuple[int, ...], np.dtype[Any], bool]:
        """Return the stream behind the header, shape, type and whether the order is Fortran's."""
        if name not in self._info:
            names = ", ".join(self.names) or "nothing"
            raise FormatError(
                f"{self.path} has no array {name!r}; it has {names}; choose from these with --obs "
                "and --action, or save arrays named obs and action with one row per pair"
            )
        info = self._info[name]
        with Guard(self.path):
            stream = self._zip.open(info)
            version = np.lib.format.read_magic(stream)
            if version == (1, 0):
                shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
            else:
                shape, fortran, dtype = np.lib.format.read_array_header_2_0(stream)
        if dtype.kind not in kinds:
            raise FormatError(
                f"{self.path}: {name} holds values of type {dtype}; only numbers "
                f"{'and text ' if 'U' in kinds else ''}can be read; convert the array"
            )
        size = math.prod(shape) * max(dtype.itemsize, 4)  # numpy makes empty texts as wide as one
        check_size(f"{self.path}: {name}", size, info.compress_size)
        return stream, shape, dtype, fortran
