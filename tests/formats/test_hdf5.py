from __future__ import annotations

import os
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.errors import CounterBCError, FormatError
from counterbc.formats import (
    hdf5,
    load,
)


def move_away(file: h5py.File, key: str) -> str:
    """Takes what lies under `key` away; where it is now."""
    file.move(key, "/elsewhere")
    return "/elsewhere"


@pytest.mark.parametrize(
    "key", ["data", "mask", "data/demo_1", "data/demo_1/obs", "data/demo_1/actions",
            "data/demo_1/obs/state", "data/demo_1/rewards", "mask/expert"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["soft", "external"])
def test_links_are_refused(kind: str, key: str, demo_file: Path, tmp_path: Path) -> None:
    with h5py.File(demo_file, "a") as file:
        place = move_away(file, key)
        if kind == "soft":
            file[key] = h5py.SoftLink(place)
    if kind == "external":
        os.rename(demo_file, tmp_path / "other.hdf5")
        with h5py.File(tmp_path / "other.hdf5") as other_file, h5py.File(demo_file, "w") as file:
            for name in ("data", "mask"):
                if name in other_file:
                    other_file.copy(name, file)
            file[key] = h5py.ExternalLink(tmp_path / "other.hdf5", "/elsewhere")
    with pytest.raises(FormatError, match="is a link, and links are not followed"):
        load(demo_file)


def test_values_kept_in_another_file_are_refused(demo_file: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(np.zeros(20, np.float32).tobytes())
    with h5py.File(demo_file, "a") as file:
        del file["data/demo_1/actions"]
        file["data/demo_1"].create_dataset(
            "actions", (10, 2), np.float32, external=[(tmp_path / "secret", 0, 80)]
        )
    with pytest.raises(FormatError, match="actions is stored in another file"):
        load(demo_file)


def test_virtual_datasets_are_refused(demo_file: Path, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.hdf5", "w") as other_file:
        other_file["secret"] = np.zeros((10, 2))
    layout = h5py.VirtualLayout((10, 2), np.float64)
    layout[:] = h5py.VirtualSource(tmp_path / "other.hdf5", "secret", (10, 2))
    with h5py.File(demo_file, "a") as file:
        del file["data/demo_1/actions"]
        file["data/demo_1"].create_virtual_dataset("actions", layout)
    with pytest.raises(FormatError, match="actions is stored in another file"):
        load(demo_file)


@pytest.mark.parametrize("key", ["data/demo_1/actions", "data/demo_1/obs/state", "mask/expert"])
def test_a_dataset_that_claims_terabytes_is_refused_before_it_is_read(
    key: str, demo_file: Path
) -> None:
    with h5py.File(demo_file, "a") as file:
        kind = file[key].dtype
        del file[key]
        shape = (2**38,) if "mask" in key else (2**38, 3)
        file.create_dataset(key, shape, kind, chunks=True, compression="gzip")
    with pytest.raises(FormatError, match=r"claims [\d,.]+ GB but the file stores 0\.000"):
        load(demo_file)


def test_a_flat_file_that_claims_terabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "flat.hdf5", "w") as file:
        for key, width in (("observations", 3), ("actions", 2), ("terminals", 1)):
            file.create_dataset(key, (2**40, width), np.float32, chunks=(1024, width))
    with pytest.raises(FormatError, match=r"claims .* GB but the file stores"):
        load(tmp_path / "flat.hdf5")


@pytest.mark.parametrize("key", ["data/..", "data/demo_0/obs/..", "mask/.."])
def test_names_that_could_mean_another_place_are_refused(key: str, demo_file: Path) -> None:
    with h5py.File(demo_file, "a") as file:
        file[key] = np.zeros((10, 2))
    with pytest.raises(FormatError, match=r"'\.\.' in .* is not a valid name; rename it"):
        load(demo_file)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rate", "often"),
        ("rate", -1.0),
        ("action_low", "abc"),
        ("action_low", [np.nan, 0]),
        ("action_set", "cube"),
        ("action_names", "[1, 2]"),
        ("action_names", '["a"]'),
        ("obs_keys", '[["state"]]'),
        ("obs_keys", '[["state", 7]]'),
        ("obs_names", "{}"),
        ("env_args", "[" * 100_000),
        ("env_args", b"\xff\xfe"),
        ("env_args", np.arange(3)),
    ],
)
def test_attributes_that_make_no_sense_are_refused(
    key: str, value: object, demo_file: Path
) -> None:
    with h5py.File(demo_file, "a") as file:
        file["data"].attrs[key] = value
    if (key, value) == ("obs_keys", '[["state", 7]]'):
        assert load(demo_file).obs_keys == (("state", 3),)  # what the data show counts
        return
    with pytest.raises(CounterBCError):
        load(demo_file)


def test_an_error_of_the_caller_is_not_reported_as_damage(demo_file: Path) -> None:
    with pytest.raises(KeyError, match="mine"), hdf5.open_file(demo_file):
        raise KeyError("mine")


def test_many_arrays_that_store_nothing_are_refused_one_by_one(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "d.hdf5", "w") as file:
        for i in range(40):
            group = file.create_group(f"data/demo_{i}")
            for key, width in (("obs/x", 3), ("actions", 2)):
                group.create_dataset(key, (2_000_000, width), "f8", chunks=(10_000, width))
    with pytest.raises(FormatError, match="the file stores none"):
        load(tmp_path / "d.hdf5")
