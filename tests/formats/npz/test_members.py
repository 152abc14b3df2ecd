from __future__ import annotations

import io
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.errors import FormatError
from counterbc.formats import (
    load,
)
from tests.formats.npz.arrays import four, write_npz


class Harm:
    def __reduce__(self) -> Any:
        return os.mkdir, ("harm",)


def test_python_objects_are_refused_and_not_unpickled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "a.npz", obs=np.array([Harm()] * 4, dtype=object), action=np.zeros((4, 1)))
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("obs.npy", pickle.dumps(Harm()))
        archive.writestr("action.npy", pickle.dumps(Harm()))
    for name in ("a.npz", "b.npz"):
        with pytest.raises(FormatError, match=r"type object|cannot be read"):
            load(tmp_path / name)
    assert not (tmp_path / "harm").exists()


def header(shape: tuple[int, ...], dtype: str = "<f4") -> bytes:
    file = io.BytesIO()
    npy_header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, npy_header)
    return file.getvalue()


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_array_that_claims_terabytes_is_refused_before_it_is_read(
    compression: int, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", compression) as archive:
        for name in ("obs", "action"):
            archive.writestr(f"{name}.npy", header((10**12, 2)) + b"\0" * 10_000)
    with pytest.raises(FormatError, match=r"claims 8,000\.00 GB but the file stores 0\.000"):
        load(tmp_path / "bomb.npz")


def test_an_array_that_is_shorter_than_it_says_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "short.npz", "w") as archive:
        for name in ("obs", "action"):
            archive.writestr(f"{name}.npy", header((10, 2)) + b"\0" * 20)
    with pytest.raises(FormatError, match="5 of 20 values"):
        load(tmp_path / "short.npz")


def test_names_that_lead_elsewhere_are_refused(tmp_path: Path) -> None:
    write_npz(tmp_path / "a.npz", **four())
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive:
        archive.writestr("../evil.npy", header((0,)))
    with pytest.raises(FormatError, match=r"'\.\./evil' is not a valid name"):
        load(tmp_path / "a.npz")


def renamed(path: Path, old: bytes, new: bytes, *, only_in_directory: bool) -> None:
    """Rename an array at its data and in the directory at the end of the archive."""
    content = path.read_bytes()
    end = content.rindex(old)
    first = content[:end] if only_in_directory else content[:end].replace(old, new)
    path.write_bytes(first + new + content[end + len(old) :])


@pytest.mark.parametrize("only_in_directory", [True, False])
@pytest.mark.parametrize("name", ["episode_ends", "reward", "operator", "counterbc", "selected"])
def test_an_array_that_a_damaged_bit_renames_is_refused(
    name: str, only_in_directory: bool, tmp_path: Path
) -> None:
    arrays = {
        "episode_ends": [2, 4], "reward": np.zeros(4), "operator": ["a", "b"],
        "selected": np.ones(4, bool),
    }  # fmt: skip
    path = write_npz(tmp_path / "a.npz", **four(**arrays))
    if name == "counterbc":
        path = tmp_path / "b.npz"
        load(tmp_path / "a.npz").save(path)
    other = name[:-1] + chr(ord(name[-1]) ^ 1)
    renamed(path, name.encode(), other.encode(), only_in_directory=only_in_directory)
    with pytest.raises(FormatError, match=rf"differ|an array named '{other}', which looks like"):
        load(path)


def test_every_damaged_bit_of_the_numbers_is_noticed(tmp_path: Path) -> None:
    path = write_npz(tmp_path / "a.npz", **four(obs=np.random.default_rng(0).normal(size=(4, 2))))
    with zipfile.ZipFile(path) as archive:
        stored = io.BytesIO()
        with zipfile.ZipFile(stored, "w") as copy:
            for name in archive.namelist():
                copy.writestr(name, archive.read(name))
    content = stored.getvalue()
    begin = content.index(b"\x93NUMPY") + 128  # behind the header of obs
    for i in range(begin, begin + 64, 7):
        path.write_bytes(content[:i] + bytes([content[i] ^ 4]) + content[i + 1 :])
        with pytest.raises(FormatError, match="CRC"):
            load(path)


def test_bytes_behind_the_last_value_and_two_arrays_of_a_name_are_refused(tmp_path: Path) -> None:
    for name, extra in (("a.npz", b"more"), ("b.npz", b"")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for key, values in four().items():
                buffer = io.BytesIO()
                np.save(buffer, values)
                archive.writestr(f"{key}.npy", buffer.getvalue() + extra)
            if not extra:
                with pytest.warns(UserWarning, match="Duplicate name"):
                    archive.writestr("obs.npy", buffer.getvalue())
        with pytest.raises(FormatError, match=r"more bytes than its shape|two arrays of the same"):
            load(tmp_path / name)


def test_arrays_that_damage_hides_in_a_comment_are_missed(tmp_path: Path) -> None:
    path = tmp_path / "hidden.npz"
    write_npz(path, **four(), episode=np.repeat([0, 1], 2))
    content = bytearray(path.read_bytes())
    entry = content.rindex(b"PK\x01\x02", 0, content.rindex(b"episode.npy"))
    before = content.rindex(b"PK\x01\x02", 0, entry)
    rest = content.index(b"PK\x05\x06", entry) - entry
    content[before + 32 : before + 34] = rest.to_bytes(2, "little")  # the length of a comment
    path.write_bytes(content)
    assert len(zipfile.ZipFile(path).namelist()) == 2
    with pytest.raises(FormatError, match="declares 3 arrays, but lists 2"):
        load(path)
