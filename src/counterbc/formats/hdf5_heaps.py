"""Heaps of texts in HDF5 files: refuse those in which the HDF5 library would never end.

Texts of any length are kept in global heap collections: the mark GCOL, a version and a size, then
one object after the other, each with its own size. An object of size 0 lets the library read the
same place for ever, and nothing can interrupt it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from struct import Struct
from typing import BinaryIO

from counterbc.formats.untrusted import is_trusted

_MARK = b"GCOL\x01\x00\x00\x00"
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_WIDTHS = {0: 13, 1: 13, 2: 9, 3: 9}
"""Where each version of the superblock says how wide addresses and sizes are."""
_WIDTH = 8  # bytes of both, in every file that h5py writes
_HEADER = 16  # bytes, of a collection as of an object
_OBJECT = Struct("<HxxxxxxQ")  # index (0: free space) and size
_BLOCK = 2**20  # bytes per read
_FIRST_BLOCKS = (0, *(512 * 2**k for k in range(8)))


def check_heaps(path: Path) -> None:
    """Raise a `ValueError` if the texts of a file could keep the HDF5 library busy for ever."""
    status = path.stat()
    if not is_trusted():
        _check(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)  # a file is opened several times, to detect its format and to read it
def _check(path: Path, size: int, changed_at: int) -> None:
    with path.open("rb") as file:
        _check_widths(file)
        for place in _marks(file):
            _check_heap(file, place, size)


def _check_widths(file: BinaryIO) -> None:
    """Refuse other widths than 8 bytes, with which heaps would look different."""
    for start in _FIRST_BLOCKS:
        file.seek(start)
        block = file.read(16)
        if block.startswith(_SIGNATURE):
            place = _WIDTHS.get(block[8], 9)
            if block[place : place + 2] != bytes([_WIDTH, _WIDTH]):
                raise ValueError("its addresses are not 8 bytes wide")
            return


def _marks(file: BinaryIO) -> Iterator[int]:
    """Yield the place of every mark, reading block by block."""
    start, rest = 0, b""
    while True:
        file.seek(start + len(rest))
        block = file.read(_BLOCK)
        if not block:
            return
        content = rest + block
        place = content.find(_MARK)
        while place >= 0:
            yield start + place
            place = content.find(_MARK, place + 1)
        rest = content[-len(_MARK) + 1 :]
        start += len(content) - len(rest)


def _check_heap(file: BinaryIO, start: int, file_size: int) -> None:
    """Walk over the objects of a collection as the library does."""
    file.seek(start + 8)
    end = min(start + int.from_bytes(file.read(8), "little"), file_size)
    place = start + _HEADER
    while place + _HEADER <= end:
        file.seek(place)
        index, length = _OBJECT.unpack(file.read(_HEADER))
        step = length if index == 0 else _HEADER + (length + 7) // 8 * 8
        if not step:
            raise ValueError("a heap of texts does not end")
        if step > end - place:  # the library reports it
            return
        place += step
