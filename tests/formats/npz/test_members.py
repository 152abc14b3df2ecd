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
    with pytest.raises(FormatError, match=r"claims 8,000\.0 GB but the file stores 0\.000"):
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
