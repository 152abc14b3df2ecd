"""The painter of the worlds: discs, rings, bars and areas, in the units of a world."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.data.arrays import Array

Color = tuple[int, int, int]
Point = tuple[float, float] | Array

BLUE, ORANGE, GREY, SNOW = (40, 90, 180), (225, 110, 20), (120, 126, 134), (244, 246, 248)


class Canvas:
    """An image of a plane, x to the right and y up.

    A shape is given by its depth: how far inside it each pixel's centre lies, negative outside.
    """

    def __init__(
        self,
        width: int,
        height: int,
        scale: float,
        *,
        origin: Point,
        color: Color,
        soft: bool = True,
    ) -> None:
        """`scale` is pixels per unit, `origin` the column and row of (0, 0) in pixels.

        Edges fade over one pixel if `soft`.
        """
        self.scale, self.soft = scale, soft
        self.x = ((np.arange(width) + 0.5 - origin[0]) / scale)[None, :]  # (1, W)
        self.y = ((origin[1] - 0.5 - np.arange(height)) / scale)[:, None]  # (H, 1)
        self.image = np.full((height, width, 3), color, np.float64)

    def copy(self) -> Canvas:
        """Return a canvas that can be painted without changing this one."""
        canvas = object.__new__(Canvas)
        canvas.__dict__ |= self.__dict__ | {"image": self.image.copy()}
        return canvas

    def picture(self) -> NDArray[np.uint8]:
        """Return the image in whole numbers: (H, W, 3)."""
        return np.asarray(self.image.round(), np.uint8)

    def disc(self, at: Point, radius: float, color: Color, opacity: float = 1.0) -> None:
        """Paint a disc."""
        self.bar(at, at, radius, color, opacity)

    def bar(
        self, start: Point, end: Point, radius: float, color: Color, opacity: float = 1.0
    ) -> None:
        """Paint a straight bar with round ends."""
        box = self._box(start, end, radius)
        x, y = self.x[:, box[1]], self.y[box[0]]
        dx, dy = end[0] - start[0], end[1] - start[1]
        squared = dx * dx + dy * dy
        along: Any = 0.0  # the nearest point of the bar's axis, as a share of its length
        if squared > 0:
            along = np.clip(((x - start[0]) * dx + (y - start[1]) * dy) / squared, 0.0, 1.0)
        near_x, near_y = start[0] + along * dx, start[1] + along * dy
        depth = radius - np.sqrt((x - near_x) ** 2 + (y - near_y) ** 2)
        self._paint(self.image[box], depth, color, opacity)

    def ring(self, at: Point, radius: float, half_width: float, color: Color) -> None:
        """Paint a circle of this radius along its middle."""
        box = self._box(at, at, radius + half_width)
        distance = np.sqrt((self.x[:, box[1]] - at[0]) ** 2 + (self.y[box[0]] - at[1]) ** 2)
        self._paint(self.image[box], half_width - np.abs(distance - radius), color)

    def area(self, depth: Array, color: Color) -> None:
        """Paint a shape given by its depth, or by where it is (bool): (H, W), or broadcast."""
        shape = self.image.shape[:2]
        self._paint(self.image, np.broadcast_to(depth, shape), color)

    def _box(self, a: Point, b: Point, reach: float) -> tuple[slice, slice]:
        """Return the rows and columns of the pixels that a shape from a to b can touch."""
        reach += 1 / self.scale
        low, high = np.minimum(a, b) - reach, np.maximum(a, b) + reach
        rows = (self.y[:, 0] > low[1]) & (self.y[:, 0] < high[1])
        columns = (self.x[0] > low[0]) & (self.x[0] < high[0])
        return _span(rows), _span(columns)

    def _paint(self, image: Array, depth: Array, color: Color, opacity: float = 1.0) -> None:
        if depth.dtype == bool or not self.soft:
            cover = np.where(depth if depth.dtype == bool else depth >= 0, opacity, 0.0)
        else:
            cover = opacity * np.clip(depth * self.scale + 0.5, 0.0, 1.0)
        image += cover[..., None] * (np.array(color) - image)


def _span(flags: Array) -> slice:
    """Return the slice from the first to the last true flag."""
    places = np.flatnonzero(flags)
    return slice(places[0], places[-1] + 1) if len(places) else slice(0)
