"""The newest picture of a camera is always at hand, and a camera that ends is noticed."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from counterbc.acting.clock import WallClock
from counterbc.errors import FormatError
from counterbc.robots.camera import Camera
from counterbc.robots.faults import CAMERA, reading_fault
from counterbc.robots.robot import Reading

pytestmark = pytest.mark.extra("cv2")


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """A film of 20 pictures that become brighter."""
    import cv2

    path = tmp_path / "film.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 20, (64, 48))
    for i in range(20):
        writer.write(np.full((48, 64, 3), 10 * i, np.uint8))
    writer.release()
    return path


def test_pictures_are_read_in_the_background(film: Path) -> None:
    start = WallClock().now()
    with Camera(film, delay=0.5) as camera:
        camera._thread.join(60)  # a film ends
        assert camera.newest is not None
        arrival, pixels = camera.newest
    assert pixels.shape == (48, 64, 3)
    assert pixels.mean() == pytest.approx(190, abs=5)
    assert start - 0.5 <= arrival <= WallClock().now() - 0.5


def test_a_picture_of_a_camera_that_ended_grows_old(film: Path) -> None:
    with Camera(film) as camera:
        camera._thread.join(60)
        assert camera.newest is not None
        taken_at, _ = camera.newest
        reading = Reading(np.zeros(6), np.zeros(2), taken_at)
        assert reading_fault(reading, taken_at + 0.04, 0.045) == ""
        while WallClock().now() - taken_at <= 0.045:
            time.sleep(0.005)
        taken_at, _ = camera.newest  # no picture came meanwhile
        reading = Reading(np.zeros(6), np.zeros(2), taken_at)
        assert reading_fault(reading, WallClock().now(), 0.045) == CAMERA


def test_a_camera_that_is_not_there_is_explained(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be opened"):
        Camera(tmp_path / "nothing.avi")
