"""Images of cameras in .npz files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.errors import FormatError
from counterbc.formats import load
from counterbc.formats.npz.cameras import split_choice

TOP, OBS = np.arange(96, dtype=np.uint8).reshape(2, 4, 4, 3), np.ones((2, 3))


def npz_file(tmp_path: Path, **arrays: Any) -> Path:
    np.savez(tmp_path / "demos.npz", action=np.zeros((2, 1)), **arrays)
    return tmp_path / "demos.npz"


def test_arrays_of_images_are_cameras_that_are_read_where_they_are_chosen(tmp_path: Path) -> None:
    path = npz_file(tmp_path, obs=OBS, top=TOP)
    blind, joined = load(path), load(path, obs=["obs", "top"])
    assert (blind.blind_to, joined.blind_to) == (("top",), ())
    assert joined.obs_shape == (3,)
    np.testing.assert_array_equal(joined.images["top"], TOP)
    single_part = load(path, obs=["top"])
    assert (single_part.camera, single_part.obs_shape) == ("top", (4, 4, 3))
    assert load(path, obs=["state", "top"]).cameras == {"top": (4, 4, 3)}


def test_the_array_obs_may_be_a_camera_beside_another(tmp_path: Path) -> None:
    path = npz_file(tmp_path, obs=TOP, wrist=TOP + 1)
    assert (load(path).cameras, load(path).blind_to) == ({"image": (4, 4, 3)}, ("wrist",))
    joined = load(path, obs=["obs", "wrist"])
    assert joined.cameras == {"image": (4, 4, 3), "wrist": (4, 4, 3)}
    np.testing.assert_array_equal(joined.images["wrist"], TOP + 1)


def test_a_camera_with_other_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="top has 1 rows but action has 2"):
        load(npz_file(tmp_path, obs=OBS, top=TOP[:1]), obs=["obs", "top"])


def test_arrays_that_cannot_be_read_are_left_aside(tmp_path: Path) -> None:
    words = np.array(["a", {"b": 1}], dtype=object)
    assert load(npz_file(tmp_path, obs=OBS, notes=words, dates=np.array(["2020"], "M8"))).pairs == 2


def test_a_choice_is_split_into_cameras_and_others() -> None:
    cameras = {"image": "obs", "top": "top"}
    assert split_choice(["top", "state"], cameras, False) == (["state"], {"top": "top"})
    assert split_choice(["obs"], cameras, False) == ([], {"image": "obs"})
    assert split_choice(None, cameras, False) == (None, {"image": "obs"})
    assert split_choice(None, cameras, True) == (None, cameras)
