"""Damaged heaps of texts are refused before the HDF5 library reads them, which would never end."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest

from counterbc.errors import FormatError
from counterbc.formats import hdf5_heaps
from counterbc.formats.hdf5 import open_file
from counterbc.formats.hdf5_heaps import check_heaps
from counterbc.formats.untrusted import trusting


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file_path = tmp_path / "texts.hdf5"
    with h5py.File(file_path, "w") as file:
        for i in range(300):  # more than one collection
            file.attrs[f"text {i}"] = "x" * i
    return file_path


def _overwrite(path: Path, place: int, content: bytes) -> None:
    whole = bytearray(path.read_bytes())
    whole[place : place + len(content)] = content
    path.write_bytes(whole)


def test_whole_heaps_pass_also_when_a_mark_lies_across_two_reads(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = path.read_bytes()
    marks = [i for i in range(len(content)) if content.startswith(b"GCOL", i)]
    assert len(marks) > 2
    for block in (10, 4096, 2**20):
        monkeypatch.setattr(hdf5_heaps, "_BLOCK", block)
        with path.open("rb") as file:
            assert list(hdf5_heaps._marks(file)) == marks
    check_heaps(path)


@pytest.mark.parametrize("collection", [0, -1])
def test_an_object_without_a_size_is_refused_in_a_sentence(path: Path, collection: int) -> None:
    content = path.read_bytes()
    marks = [i for i in range(len(content)) if content.startswith(b"GCOL", i)]
    _overwrite(path, marks[collection] + 16, bytes(16))  # index 0 and size 0
    with pytest.raises(FormatError, match="a heap of texts does not end"), open_file(path):
        pass
    with trusting(True):
        check_heaps(path)


def test_an_object_beyond_its_collection_is_left_to_the_library(path: Path) -> None:
    place = path.read_bytes().index(b"GCOL")
    _overwrite(path, place + 24, b"\xff" * 8)
    check_heaps(path)
    with open_file(path) as file, pytest.raises(OSError, match="heap"):
        list(file.attrs.values())


def test_other_widths_of_addresses_are_refused(path: Path) -> None:
    assert path.read_bytes()[13:15] == b"\x08\x08"
    _overwrite(path, 13, b"\x04\x04")
    with pytest.raises(ValueError, match="not 8 bytes wide"):
        check_heaps(path)
