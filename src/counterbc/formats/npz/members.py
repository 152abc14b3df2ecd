"""The arrays of an .npz file, each read only as far as it is needed and never unpickled."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from counterbc.data.episode import Array
from counterbc.errors import FormatError
from counterbc.formats.guard import check_size, guarded
from counterbc.formats.rows import Rows

_WHOLE = 2**32  # bytes of an array that is read at once, such as episode ids


class Members:
    """An open archive; `names` are its arrays."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise FormatError(f"{path} is not a file; give the path of an .npz file")
        with guarded(path):
            self._zip = zipfile.ZipFile(path)
            found = self._zip.infolist()
        self._info = {i.filename.removesuffix(".npy"): i for i in found}
        self.names = tuple(self._info)
        for name in self.names:
            if ".." in Path(name).parts or name.startswith("/"):
                raise FormatError(f"{path}: {name!r} is no proper name of an array; rename it")

    def __enter__(self) -> Members:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._zip.close()

    def shape(self, name: str) -> tuple[int, ...]:
        """Its shape, of one dimension or more."""
        stream, shape, _, _ = self._opened(name, "biufUS" if name == "episode" else "biuf")
        stream.close()
        if not shape:
            raise FormatError(f"{self.path}: {name} is a single number; expected one row per pair")
        return shape

    def array(self, name: str) -> Array:
        """All of a small array, numbers or text."""
        stream, shape, dtype, fortran = self._opened(name, "biufUS")
        size = math.prod(shape) * dtype.itemsize
        if size > _WHOLE:
            raise FormatError(f"{self.path}: {name} has {size / 1e9:,.1f} GB; too large for it")
        with stream:
            flat = self._numbers(stream, math.prod(shape), dtype)
        return flat.reshape(shape, order="F" if fortran else "C")

    def rows(self, name: str) -> Rows:
        """The rows of an array, read one block after the other."""
        stream, shape, dtype, fortran = self._opened(name)
        width = math.prod(shape[1:])
        if fortran and len(shape) > 1:  # column after column: there is no reading it row by row
            stream.close()
            whole = self.array(name)
            return Rows(lambda start, stop: whole[start:stop], shape, width * dtype.itemsize)

        def read(start: int, stop: int) -> Array:
            count = stop - start
            return self._numbers(stream, count * width, dtype).reshape(count, *shape[1:])

        return Rows(read, shape, width * dtype.itemsize)

    def _numbers(self, stream: IO[bytes], count: int, dtype: np.dtype[Any]) -> Array:
        with guarded(self.path):
            content = stream.read(count * dtype.itemsize)
            if dtype.itemsize == 0:
                return np.zeros(count, dtype)
            values = np.frombuffer(content, dtype)
            if len(values) != count:
                raise EOFError(f"{len(values)} of {count} values are there")
            return values

    def _opened(
        self, name: str, kinds: str = "biuf"
    ) -> tuple[IO[bytes], tuple[int, ...], np.dtype[Any], bool]:
        """Its stream behind the header; shape, type and whether columns come first."""
        if name not in self._info:
            have = ", ".join(self.names) or "nothing"
            raise FormatError(
                f"{self.path} has no array {name!r}, it has {have}; save one row per pair under "
                "obs and action"
            )
        info = self._info[name]
        with guarded(self.path):
            stream = self._zip.open(info)
            version = np.lib.format.read_magic(stream)
            if version == (1, 0):
                shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
            else:
                shape, fortran, dtype = np.lib.format.read_array_header_2_0(stream)
        if dtype.kind not in kinds:
            raise FormatError(
                f"{self.path}: {name} holds values of type {dtype}; only numbers are read"
                + (", and text for names" if "U" in kinds else "")
            )
        check_size(f"{self.path}: {name}", math.prod(shape) * dtype.itemsize, info.compress_size)
        return stream, shape, dtype, fortran
