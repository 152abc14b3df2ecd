"""Finds the puck in a camera's picture by its colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.data.arrays import Array
from counterbc.errors import DataError, MissingExtra, OptionError
from counterbc.robots.calibration import Calibration

BLUR = 3
"""Side of the square of pixels that is averaged against noise."""


@dataclass(frozen=True, kw_only=True)
class PuckColour:
    """The colours of a puck, in OpenCV's HSV; the default is red."""

    hue: tuple[int, int] = (170, 10)
    """First and last hue, 0 to 179; around red the first is larger than the last."""
    saturation: int = 110
    """Smallest saturation, 0 to 255."""
    value: int = 60
    """Smallest brightness, 0 to 255."""

    def __post_init__(self) -> None:
        numbers = (*self.hue, self.saturation, self.value)
        if not all(0 <= n <= 255 for n in numbers) or max(self.hue) > 179:
            raise OptionError(f"{self} is no colour; hues are 0 to 179, the rest 0 to 255")


class Tracker:
    """Returns where the puck is on the table, or None where it is not seen.

    The largest patch of the puck's colour counts, if its area fits the puck: a glint is smaller, a
    red sleeve larger.
    """

    def __init__(
        self, calibration: Calibration, radius: float, colour: PuckColour | None = None
    ) -> None:
        """`radius` is the puck's, in metres."""
        self._cv2 = _opencv()
        self.calibration, self.radius = calibration, radius
        self.colour = colour or PuckColour()
        self._kernel = np.ones((3, 3), np.uint8)

    def find(self, picture: NDArray[np.uint8]) -> Array | None:
        """Return the puck's place (2,) in a picture (H, W, 3): blue, green, red."""
        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
            raise DataError(f"the picture is {picture.dtype} {picture.shape}; give bytes (H, W, 3)")
        mask = self._cv2.morphologyEx(self._mask(picture), self._cv2.MORPH_OPEN, self._kernel)
        count, _, boxes, centres = self._cv2.connectedComponentsWithStats(mask)
        if count < 2:
            return None
        best = 1 + int(np.argmax(boxes[1:, self._cv2.CC_STAT_AREA]))
        place = self.calibration.to_table(centres[best])
        puck_area = self._area(place)
        area = boxes[best, self._cv2.CC_STAT_AREA]
        return place if 0.3 * puck_area < area < 2.0 * puck_area else None

    def _mask(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return 255 where a picture has the puck's colour."""
        smooth = self._cv2.blur(picture, (BLUR, BLUR))
        hsv = self._cv2.cvtColor(smooth, self._cv2.COLOR_BGR2HSV)
        first, last = self.colour.hue
        ranges = [(first, last)] if first <= last else [(first, 179), (0, last)]
        low, high = (self.colour.saturation, self.colour.value), (255, 255)
        masks = [self._cv2.inRange(hsv, (a, *low), (b, *high)) for a, b in ranges]
        mask: NDArray[np.uint8] = np.bitwise_or.reduce(masks)
        return mask

    def _area(self, place: Array) -> float:
        """Return the pixels of a puck at a place."""
        turn = np.linspace(0, 2 * np.pi, 16, endpoint=False)
        edge = place + self.radius * np.stack([np.cos(turn), np.sin(turn)], 1)
        u, v = self.calibration.to_picture(edge).T
        return float(abs(u @ np.roll(v, 1) - v @ np.roll(u, 1)) / 2)


def _opencv() -> Any:
    try:
        import cv2
    except ImportError:
        raise MissingExtra("opencv-python", "robots", "tracking the puck") from None
    return cv2
