"""Pictures of the simulated table from above, quick enough for real time, and by MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.data.arrays import Array
from counterbc.envs.air_hockey.table import LENGTH, PADDLE, PUCK, WIDTH
from counterbc.robots.calibration import Calibration
from counterbc.robots.simulated.arm import Arm
from counterbc.robots.simulated.scene import CAMERA, PUCK_BODY, library
from counterbc.robots.tracker import Tracker

HEIGHT, WIDE = 360, 640
_MARKS = np.array([[0, -WIDTH / 2], [LENGTH, -WIDTH / 2], [LENGTH, WIDTH / 2], [0, WIDTH / 2]])
_CORNERS = np.array([[52, 331], [603, 318], [578, 37], [71, 44]])  # their pixels, seen askew
_ICE, _WOOD, _BLUE, _RED = (250, 247, 244), (82, 66, 58), (176, 92, 34), (40, 44, 206)  # BGR
_SHIFT = 4  # bits of a pixel's fraction in OpenCV's drawing

Pixels = NDArray[np.uint8]  # (360, 640, 3): blue, green, red


class Overhead:
    """A camera above the table that does not look straight down; pictures come from OpenCV."""

    def __init__(self, noise: float = 0.0, seed: int = 0) -> None:
        """`noise` is the standard deviation of every pixel, out of 255."""
        self.calibration = Calibration.of(_CORNERS, _MARKS)
        self.tracker = Tracker(self.calibration, PUCK)
        self.noise, self._generator = noise, np.random.default_rng(seed)
        self._cv2 = self.tracker._cv2

    def picture(self, puck: Array, paddle: Array | None = None) -> Pixels:
        """Return a picture with the puck, and the paddle if it is given."""
        pixels = np.full((HEIGHT, WIDE, 3), _WOOD, np.uint8)
        self._fill(pixels, _MARKS, _ICE)
        if paddle is not None:
            self._fill(pixels, _circle(paddle, PADDLE), _BLUE)
        self._fill(pixels, _circle(puck, PUCK), _RED)
        if self.noise:
            noise = self._generator.normal(0, self.noise, pixels.shape)
            pixels = np.clip(pixels + noise, 0, 255).astype(np.uint8)
        return pixels

    def track(self, puck: Array) -> Array | None:
        """Return where the tracker sees a puck, by taking a picture of it."""
        return self.tracker.find(self.picture(puck))

    def _fill(self, pixels: Pixels, outline: Array, colour: tuple[int, int, int]) -> None:
        corners = self.calibration.to_picture(outline) * 2**_SHIFT
        points = np.round(corners).astype(np.int32)[None]
        self._cv2.fillPoly(pixels, points, colour, self._cv2.LINE_AA, _SHIFT)


class MujocoOverhead:
    """The camera of the MuJoCo scene, which sees the arm as well; too slow for real time."""

    def __init__(self, arm: Arm) -> None:
        """`arm` has a model that was built to be drawn."""
        self.arm, self._renderer = arm, library().Renderer(arm.model, HEIGHT, WIDE)
        self._puck: Any = arm.model.body(PUCK_BODY).mocapid[0]
        self.calibration = Calibration.of(self._pixels(_MARKS), _MARKS)

    def picture(self, puck: Array) -> Pixels:
        """Return a picture with the arm as it is and the puck at a place."""
        self.arm.data.mocap_pos[self._puck, :2] = puck
        self.arm._mj.mj_kinematics(self.arm.model, self.arm.data)
        self._renderer.update_scene(self.arm.data, CAMERA)
        return np.ascontiguousarray(self._renderer.render()[:, :, ::-1])

    def close(self) -> None:
        self._renderer.close()

    def _pixels(self, places: Array) -> Array:
        """Return the pixels of places at the height of the puck's upper side."""
        model = self.arm.model
        camera = model.camera(CAMERA)
        focal = HEIGHT / 2 / np.tan(np.radians(camera.fovy[0]) / 2)
        top = model.body(PUCK_BODY).pos[2] + model.geom("puck_disc").size[1]
        across = (places - camera.pos[:2]) * focal / (camera.pos[2] - top)
        return np.stack([(WIDE - 1) / 2 + across[:, 0], (HEIGHT - 1) / 2 - across[:, 1]], 1)


def _circle(centre: Array, radius: float) -> Array:
    turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    return np.asarray(centre + radius * np.stack([np.cos(turn), np.sin(turn)], 1))
