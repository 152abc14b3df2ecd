"""Frames of cameras are read a stretch at a time, in every format that has cameras."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode
from counterbc.errors import DataError, OptionError
from counterbc.formats import open_stream, save
from counterbc.studio import camera_film
from counterbc.studio.camera_film import CameraFilm, as_picture
from counterbc.studio.dataset_view import DatasetView


@pytest.fixture
def frames() -> Any:
    return np.random.default_rng(0).integers(0, 256, (2, 9, 8, 12, 3)).astype(np.uint8)


def write(frames: Any, path: Path, format: str | None) -> None:
    rng = np.random.default_rng(1)
    episodes = tuple(
        Episode(rng.normal(size=(9, 2)), rng.uniform(size=(9, 1)), images={"front": images})
        for images in frames
    )
    save(Demonstrations(episodes, rate=10.0), path, format=format)


@pytest.mark.parametrize(
    ("name", "format"), [("a.hdf5", None), ("a.npz", None), ("a.lerobot", "lerobot")]
)
def test_frames_beside_a_vector_are_those_of_the_file(
    frames: Any, tmp_path: Path, name: str, format: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(frames, tmp_path / name, format)
    view = DatasetView.open(tmp_path / name)
    stretches: list[tuple[int, int]] = []
    read = open_stream

    @dataclass
    class Counted:
        raw_episodes: Any

    def counted(*arguments: Any, **options: Any) -> Counted:
        raws = list(read(*arguments, **options).raw_episodes)
        stretches.append((options["part"].begin, len(raws[0].obs)))
        return Counted(iter(raws))

    monkeypatch.setattr(camera_film, "open_stream", counted)
    size = frames[0, 0].nbytes
    film = CameraFilm(view.path, view.format, "front", "demo_1", 9, largest=4 * size)
    for t in (0, 1, 2, 3, 4, 5, 8, 2):
        np.testing.assert_array_equal(film.frame(t), frames[1, t])
    assert stretches == [(0, 1), (1, 4), (5, 4), (2, 4)]  # never more than four at once
    for t in (-1, 9):
        with pytest.raises(OptionError, match="no image"):
            film.frame(t)


def test_a_film_that_cannot_be_read_says_so(frames: Any, tmp_path: Path) -> None:
    write(frames, tmp_path / "a.hdf5", None)
    with pytest.raises(DataError, match="not there any more"):
        CameraFilm(tmp_path / "a.hdf5", "robomimic", "front", "demo_7", 9).frame(0)


def test_grey_images_and_depth_maps_become_pictures() -> None:
    grey = np.arange(6, dtype=np.uint8).reshape(2, 3, 1)
    np.testing.assert_array_equal(as_picture(grey)[..., 2], grey[..., 0])
    np.testing.assert_array_equal(as_picture(grey[..., 0]), as_picture(grey))
    depth = np.array([[1.0, 2.0], [3.0, np.nan]])
    assert as_picture(depth)[..., 0].tolist() == [[85, 170], [255, 0]]
    assert as_picture(np.full((2, 2, 4), 7, np.uint8)).shape == (2, 2, 3)
    with pytest.raises(DataError, match="cannot be shown"):
        as_picture(np.zeros((2, 2, 7)))
