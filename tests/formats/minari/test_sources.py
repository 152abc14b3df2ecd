from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from counterbc.errors import DataError, FormatError
from counterbc.formats import (
    load,
)
from tests.formats.minari.foreign import (
    CAMERA,
    STORES,
    episode,
    foreign,
    jpeg,
    set_values,
    write_hdf5,
)


def test_jpeg_images_of_one_length_are_read_from_the_table_that_they_make(tmp_path: Path) -> None:
    rows = np.stack([np.frombuffer(jpeg(7), np.uint8)] * 3)
    root = foreign(tmp_path, observation_space=json.dumps(CAMERA), total_episodes=1, total_steps=2)
    values = {"observations": rows, "actions": np.zeros((2, 2)), "rewards": np.zeros(2)}
    write_hdf5(root / "data", [values])
    assert np.array_equal(load(root).obs, np.full((2, 32, 40, 3), 7))


def test_images_that_were_not_compressed_are_read_as_they_are(tmp_path: Path) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (4, 32, 40, 3), dtype=np.uint8)
    space = json.dumps(CAMERA)
    root = foreign(tmp_path, observation_space=space, total_episodes=1, total_steps=3)
    values = {"observations": frames, "actions": np.zeros((3, 2)), "rewards": np.zeros(3)}
    write_hdf5(root / "data", [values])
    assert np.array_equal(load(root).obs, frames[:3])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            set_values("actions", np.zeros((4, 2))),
            "actions of 'episode_1' has 4 rows; expected 3",
        ),
        (set_values("observations/a", np.zeros((3, 1, 2))), "has 3 rows; expected 4"),
        (
            set_values("observations/a", np.zeros((4, 3))),
            "has 3 numbers per row, but its space has 2",
        ),
        (set_values("actions", np.array([[b"x", b"y"]] * 3)), "only numbers can be read"),
        (
            set_values("actions", np.full((3, 2), np.nan)),
            "action of episode 'demo_1' has 6 values",
        ),
        (set_values("rewards", np.zeros(0)), "has 4 rows; expected 1"),
        (set_values("rewards", np.float64(1)), "has 4 rows; expected 2"),
        (lambda values: values.pop("observations/a"), "has no observations/a"),
        (lambda values: values.pop("rewards"), "'episode_1' has no rewards"),
    ],
)
def test_a_bad_episode_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], sentence: str
) -> None:
    root = foreign(tmp_path, change=change)
    with pytest.raises((FormatError, DataError), match=sentence) as error_info:
        load(root)
    assert str(root) in str(error_info.value)


def test_an_episode_of_no_steps_is_refused(tmp_path: Path) -> None:
    def empty(values: dict[str, Any]) -> None:
        values.update(episode(2, 0))

    for store in STORES:
        root = foreign(tmp_path / store, store, empty, total_steps=2)
        with pytest.raises(DataError, match="episode 'demo_1' is empty"):
            load(root)


@pytest.mark.parametrize("store", ["arrow", "parquet"])
def test_a_table_that_is_not_what_its_metadata_say_is_refused(tmp_path: Path, store: str) -> None:
    root = foreign(tmp_path / "long", store)
    (root / "data/1/metadata.json").write_text('{"total_steps": 2}')
    with pytest.raises(
        FormatError, match=r"has 4 rows(; expected|, but its metadata.json declares) 3"
    ):
        load(root)
    root = foreign(tmp_path / "lacking", store, lambda values: values.pop("observations/a"))
    with pytest.raises(FormatError, match=r"observations\.a is missing; the table has"):
        load(root)
    root = foreign(tmp_path / "absent", store)
    (root / f"data/1/part-0.{store}").unlink()
    with pytest.raises(FormatError, match=f"has no {store} file"):
        load(root)
    shutil.rmtree(root / "data/1")
    with pytest.raises(FormatError, match=r"data/1/metadata\.json is missing"):
        load(root)


@pytest.mark.parametrize("share", [0, 0.3, 0.99])
@pytest.mark.parametrize("store", STORES)
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, store: str, share: float) -> None:
    root = foreign(tmp_path, store)
    path = root / ("data/main_data.hdf5" if store == "hdf5" else f"data/1/part-0.{store}")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FormatError, match=r"cannot be read; it may be incomplete|is not an HDF5"):
        load(root)


@pytest.mark.parametrize("store", STORES)
def test_damaged_images_are_refused(tmp_path: Path, store: str) -> None:
    change = set_values("observations/camera", [b"no", b"jpeg", b"at", b"all"])
    root = foreign(tmp_path, store, change)
    with pytest.raises(FormatError, match="row 0 is not a PNG or JPEG image"):
        load(root, obs=["camera"])
    assert load(root).pairs == 5


def test_a_link_out_of_the_file_is_not_followed(tmp_path: Path) -> None:
    root = foreign(tmp_path)
    with h5py.File(tmp_path / "other.hdf5", "w") as file:
        file["x"] = np.zeros((3, 2))
    with h5py.File(root / "data/main_data.hdf5", "a") as file:
        del file["episode_1/actions"]
        file["episode_1/actions"] = h5py.ExternalLink(str(tmp_path / "other.hdf5"), "x")
    with pytest.raises(FormatError, match="links are not followed"):
        load(root)
