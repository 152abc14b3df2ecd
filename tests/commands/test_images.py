"""What commands suggest on images, so that nobody begins with hours of training."""

from __future__ import annotations

import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.commands.images import first_training, image_size
from counterbc.data.demonstrations import Demonstrations, Episode
from tests.fixture_types import Call, CallJson


def demos_of(*sizes: tuple[int, int], episodes: int = 1, length: int = 2) -> Demonstrations:
    """Return demonstrations of a vector and cameras of these sizes."""
    rng = np.random.default_rng(0)
    cameras = {
        f"cam{i}": rng.integers(0, 256, (length, *size, 3), np.uint8)
        for i, size in enumerate(sizes)
    }
    each = [
        Episode(rng.normal(size=(length, 2)), rng.normal(size=(length, 1)), images=cameras)
        for _ in range(episodes)
    ]
    return Demonstrations(tuple(each))


@pytest.mark.parametrize(
    ("sizes", "option"),
    [
        ([], ()),
        ([(96, 96)], ()),
        ([(128, 128)], ()),
        ([(480, 640)], ("--image-size", 96, 128)),
        ([(640, 480)], ("--image-size", 128, 96)),
        ([(96, 96), (720, 1280)], ("--image-size", 84, 148)),
        ([(40, 4000)], ("--image-size", 36, 1108)),
    ],
)
def test_large_images_are_made_small_with_their_aspect(
    sizes: list[tuple[int, int]], option: tuple[object, ...]
) -> None:
    assert image_size(demos_of(*sizes)) == option


def test_only_a_first_training_on_images_differs_from_the_default() -> None:
    assert first_training(demos_of(), 5) == ()
    assert first_training(demos_of((96, 96)), 5) == (
        "--method", "bc", "--steps", 2000, "--held-out", 0.2
    )  # fmt: skip
    assert first_training(demos_of((480, 640)), 5)[-3:] == ("--image-size", 96, 128)


def test_a_single_episode_is_not_held_out() -> None:
    assert first_training(demos_of((96, 96)), 1) == ("--method", "bc", "--steps", 2000)


def test_the_training_suggested_for_images_is_short_and_of_small_images(
    tmp_path: Path, call_json: CallJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    demos_of((160, 200), episodes=4, length=8).save("large.hdf5")
    short = "--method bc --steps 2000 --held-out 0.2"
    smaller = "--image-size 100 124"
    assert call_json("inspect", "large.hdf5")["next"] == [
        f"counterbc train large.hdf5 {short} {smaller}"
    ]
    assert call_json("inspect", "large.hdf5", "--steps", 9)["next"] == [
        f"counterbc compare large.hdf5 --steps 9 {smaller}"
    ]
    resized = call_json("inspect", "large.hdf5", "--image-size", 140, "--steps", 9)["next"]
    assert resized == ["counterbc compare large.hdf5 --image-size 140 --steps 9"]
    copied = call_json("intents", "large.hdf5", "--groups", 1, "--out", "copy.hdf5")["next"]
    assert copied == [f"counterbc train copy.hdf5 {short} {smaller}"]


def test_the_command_that_also_reads_the_cameras_is_printed(
    tmp_path: Path, call: Call, call_json: CallJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    with h5py.File("demos.hdf5", "w") as file:
        for i in range(2):
            file[f"data/demo_{i}/actions"] = rng.uniform(-1, 1, (20, 2))
            file[f"data/demo_{i}/obs/eef_pos"] = rng.uniform(-1, 1, (20, 3))
            file[f"data/demo_{i}/obs/top_image"] = rng.integers(0, 256, (20, 40, 40, 3), np.uint8)
    line = "counterbc inspect demos.hdf5 --obs eef_pos --obs top_image"
    answer = call_json("inspect", "demos.hdf5")
    assert answer["with_cameras"] == line
    assert f"To read the cameras as well: {line}" in call("inspect", "demos.hdf5")[1]
    assert call_json("inspect", "demos.hdf5", "--obs", "eef_pos")["with_cameras"] is None
    read = call_json(*line.split()[1:])
    assert read["with_cameras"] is None
    short = "--method bc --steps 2000 --held-out 0.2"
    assert read["next"] == [f"counterbc train demos.hdf5 --obs eef_pos --obs top_image {short}"]
    options = ("--method", "bc", "--steps", 2, "--lag", 0, "--exclude", "demo_1")
    status, out, err = call("train", "demos.hdf5", *options)
    assert status == 0, err
    with h5py.File("blind.hdf5", "w") as file:
        file["data/demo_0/actions"] = rng.uniform(-1, 1, (20, 2))
        file["data/demo_0/obs/eef_pos"] = rng.uniform(-1, 1, (20, 3))
    assert call_json("inspect", "demos.hdf5", "blind.hdf5")["with_cameras"] is None
    (again,) = re.findall(r"to read them as well: (.*)\n", out)
    assert again == line.replace(".hdf5", ".hdf5 --exclude demo_1")


@pytest.mark.parametrize("command", ["score", "clean", "influence"])
def test_a_judgement_that_reads_vectors_alone_says_which_to_choose(
    command: str, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    demos_of((40, 40), episodes=8, length=12).save("demos.hdf5")
    status, _, err = call(command, "demos.hdf5", "--force")
    assert status == 1
    assert "read vectors alone here, but these data have cam0 40×40×3; use --obs " in err
    (option,) = re.findall(r"use (--obs \w+)", err)
    quick = ("--steps", 2, "--radius", 0.2, "--force")
    if command != "influence":
        status, _, err = call(command, "demos.hdf5", *option.split(), *quick)
        assert "vectors alone" not in err


@pytest.mark.needs("envpool")
def test_demonstrations_with_a_camera_lead_to_a_short_training(
    tmp_path: Path, call_json: CallJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for world, options in (
        ("car-racing", " --method bc --steps 2000"),  # of one episode nothing can be held out
        ("intersection", ""),
    ):
        answer = call_json("demonstrate", world, "--pairs", 20, "--out", f"{world}.hdf5")
        assert answer["next"] == [f"counterbc train {world}.hdf5{options}"]


def test_smaller_images_are_the_first_advice_for_slow_work(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("counterbc.training.pace._ENOUGH", 0.0)
    monkeypatch.setattr("counterbc.training.session.LIMIT", 0.0)
    demos_of((132, 132), episodes=4, length=5).save("large.hdf5")
    options = ("--method", "bc", "--lag", 0, "--steps", 40)
    status, _, err = call("train", "large.hdf5", *options)
    assert status == 1
    assert re.search(r"GPU; quicker: --image-size 112 112, \S", err), err
    _, _, err = call("train", "large.hdf5", *options, "--image-size", 36)
    assert "without a GPU; quicker: " in err
    assert "--image-size" not in err
