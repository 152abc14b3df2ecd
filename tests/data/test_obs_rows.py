"""Observations as rows: vectors, images, or joined."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.obs_rows import obs_rows, pack_arrays, pixel_rows
from counterbc.data.packing import unpack

LENGTHS = (3, 5, 2)
INDEX = np.array([9, 0, 4, 4, 2])


def episodes(*cameras: str, vector: bool = True) -> tuple[Episode, ...]:
    rng, episode_list = np.random.default_rng(0), []
    for n in LENGTHS:
        shapes = {camera: (n, 3, 2 + i, 3) for i, camera in enumerate(cameras)}
        images = {camera: rng.integers(0, 256, x, np.uint8) for camera, x in shapes.items()}
        obs = rng.normal(size=(n, 2)) if vector else images.pop(cameras[0])
        episode_list.append(Episode(obs, np.zeros((n, 1)), images=images))
    return tuple(episode_list)


def test_rows_of_vectors_are_the_vectors() -> None:
    demos = Demonstrations(episodes())
    np.testing.assert_array_equal(obs_rows(demos, INDEX), demos.obs[INDEX])
    np.testing.assert_array_equal(obs_rows(demos, INDEX[:1]), demos.obs[INDEX[:1]])


def test_few_rows_are_read_without_copying_all_observations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    demos = Demonstrations((Episode(np.arange(80.0)[:, None], np.zeros((80, 1))),))
    monkeypatch.delattr(Demonstrations, "obs")
    assert obs_rows(demos, np.array([7, 3, 79])).tolist() == [[7], [3], [79]]


def test_rows_of_one_camera_are_its_pixels() -> None:
    demos = Demonstrations(episodes("top", vector=False))
    np.testing.assert_array_equal(obs_rows(demos, INDEX), demos.obs[INDEX].reshape(5, -1))


def test_rows_of_several_parts_hold_every_camera_and_the_vector() -> None:
    demos = Demonstrations(episodes("top", "wrist"))
    rows = torch.tensor(obs_rows(demos, INDEX))
    pixels, vector = unpack(rows, 3 * 2 * 3 + 3 * 3 * 3, torch.float32)
    np.testing.assert_array_equal(vector.numpy(), demos.obs[INDEX])
    for camera, part in (("top", pixels[:, :18]), ("wrist", pixels[:, 18:])):
        images = np.concatenate([e.images[camera] for e in demos.episodes])
        np.testing.assert_array_equal(part.numpy(), images[INDEX].reshape(5, -1))


def test_no_rows_have_the_width_of_a_row() -> None:
    demos = Demonstrations(episodes("top", "wrist"))
    assert obs_rows(demos, np.array([], int)).shape == (0, 18 + 27 + 8)


def test_cameras_come_in_order_that_of_obs_first() -> None:
    episode = episodes("top", "wrist", vector=False)[0]
    assert [x.shape for x in pixel_rows(episode)] == [(3, 3, 2, 3), (3, 3, 3, 3)]
    assert pack_arrays(pixel_rows(episode), None).shape == (3, 18 + 27)
