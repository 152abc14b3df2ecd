from __future__ import annotations

import os
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import FormatError, OptionError
from counterbc.formats import FORMATS, detect, load, save

NO_DATA = "COUNTERBC_DATA does not name the folder of real data"
OBS, ACTION = np.arange(6.0).reshape(3, 2), np.array([[0.5], [1], [2]])


def write(kind: str, path: Path) -> Path:
    """The same three pairs in each format."""
    if kind == "d4rl":
        with h5py.File(path, "w") as file:
            file.update({"observations": OBS, "actions": ACTION, "terminals": [0, 0, 1]})
    elif kind == "csv":
        rows = [f"{x},{y},{a}" for (x, y), a in zip(OBS, ACTION[:, 0], strict=True)]
        path.write_text("\n".join(["x,y,action", *rows]))
    else:
        save(Demonstrations((Episode(OBS, ACTION),)), path, format=kind)
    return path


@pytest.mark.parametrize("kind", FORMATS)
def test_the_format_is_told_by_the_content_whatever_the_name(kind: str, tmp_path: Path) -> None:
    path = write(kind, tmp_path / "demos.dat")
    assert detect(path) == kind
    demos = load(path)
    assert np.array_equal(demos.obs, OBS)
    assert np.array_equal(demos.action, ACTION)
    assert load(path, format=kind).fingerprint() == demos.fingerprint()


@pytest.mark.parametrize("content", [b"", b"x,y,z\n1,2,3\n", b"\0" * 100, b"\x89PNG", b"PK\5\6"])
def test_what_no_format_knows_is_refused_with_the_list_of_formats(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "demos.hdf5"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"is a file in no format .*\(robomimic, d4rl, npz, csv"):
        load(path)
    with pytest.raises(FormatError, match=r"is a folder in no format .*lerobot, minari\)"):
        load(tmp_path)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_forced_format_that_does_not_fit_is_one_sentence(kind: str, tmp_path: Path) -> None:
    other = write("npz" if kind == "csv" else "csv", tmp_path / "demos")
    with pytest.raises(FormatError, match=str(tmp_path)):
        load(other, format=kind)


def test_unknown_formats_are_refused_by_name(tmp_path: Path) -> None:
    path = write("csv", tmp_path / "demos.csv")
    with pytest.raises(OptionError, match="unknown format 'zarr'; allowed: robomimic"):
        load(path, format="zarr")
    with pytest.raises(OptionError, match="unknown format to write 'csv'; allowed: robomimic"):
        save(load(path), tmp_path / "out.csv", format="csv")
    with pytest.raises(OptionError, match=r"ending of .*out does not tell .*--to"):
        save(load(path), tmp_path / "out")
    assert os.listdir(tmp_path) == ["demos.csv"]


def test_every_real_dataset_is_recognized(data: Path) -> None:
    found = [*data.rglob("*.hdf5"), data / "fixtures/lerobot_v21_g1"]
    kinds = {p.name: detect(p) for p in found}
    assert len(kinds) == 7
    assert {n for n, kind in kinds.items() if kind == "robomimic"} == {
        n for n in kinds if n.endswith(".hdf5")
    }
    assert kinds["lerobot_v21_g1"] == "lerobot"
