"""The map from a camera's picture to the table.

A picture of a plane is related to it by a homography H, a 3 × 3 matrix up to scale:

    (x, y, 1) ~ H (u, v, 1)        (u, v) in pixels, (x, y) on the table in metres

It is estimated from four marks or more, by the direct linear transform on normalized coordinates.
Put the marks at the height of the puck's upper side, or the puck seems to be elsewhere.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import DataError, FormatError
from counterbc.files import Guard, aside, check_free, check_regular

LARGEST_ERROR = 0.005
"""Metres by which marks may be off after calibration, as root mean square."""
FEWEST = 4


@dataclass(frozen=True, eq=False)
class Calibration:
    """A homography and the marks that it was estimated from."""

    pixels: Array  # (n, 2)
    places: Array  # (n, 2), in metres
    matrix: Array  # (3, 3)

    @staticmethod
    def of(pixels: Array, places: Array) -> Calibration:
        """Estimate the homography from marks in the picture and their places on the table."""
        pixels, places = np.asarray(pixels, float), np.asarray(places, float)
        if pixels.shape != places.shape or pixels.ndim != 2 or pixels.shape[1] != 2:
            raise DataError(
                f"marks have shapes {pixels.shape} and {places.shape}; give (n, 2) pixels and as "
                "many places in metres"
            )
        if len(pixels) < FEWEST or not np.isfinite([pixels, places]).all():
            raise DataError(f"{len(pixels)} marks were given; give {FEWEST} or more finite ones")
        return Calibration(pixels, places, _homography(pixels, places))

    def to_table(self, pixels: Array) -> Array:
        """Return the places of pixels on the table: (…, 2) → (…, 2)."""
        return _project(self.matrix, pixels)

    def to_picture(self, places: Array) -> Array:
        """Return the pixels of places on the table: (…, 2) → (…, 2)."""
        return _project(np.linalg.inv(self.matrix), places)

    def is_visible(self, places: Array) -> bool:
        """Return whether places (n, 2) are on the marks' side of the horizon of the picture.

        Beyond it, a map that looks sound sees what is behind the camera.
        """
        points = np.concatenate([self.places, places])
        rows = np.concatenate([points, np.ones((len(points), 1))], 1)
        depths = rows @ np.linalg.inv(self.matrix)[2]  # the third homogeneous coordinate
        return bool((depths > 0).all() or (depths < 0).all())

    @property
    def error(self) -> float:
        """Root mean square distance of the marks from where the map puts them, in metres."""
        gaps = self.to_table(self.pixels) - self.places
        return float(np.sqrt((gaps**2).sum(1).mean()))

    @property
    def marks(self) -> dict[str, list[list[float]]]:
        """Pixels and places of the marks, as their file holds them."""
        return {"pixels": self.pixels.tolist(), "places": self.places.tolist()}

    def save(self, path: Path) -> None:
        """Write the marks as JSON; the map follows from them."""
        check_free(path)
        with aside(path) as temporary:
            temporary.write_text(json.dumps(self.marks, indent=2) + "\n", "utf-8")

    @staticmethod
    def load(path: Path) -> Calibration:
        """Read marks that `save` or a person wrote."""
        if not path.exists():
            raise FormatError(f"{path} does not exist; write the marks as docs/robots.md describes")
        check_regular(path)
        with Guard(path, "write the marks as docs/robots.md describes"):
            marks = json.loads(path.read_text("utf-8"))
            pixels, places = np.array(marks["pixels"], float), np.array(marks["places"], float)
        return Calibration.of(pixels, places)


def _homography(pixels: Array, places: Array) -> Array:
    """Return H of the direct linear transform."""
    (a, u), (b, x) = _normalized(pixels), _normalized(places)
    zeros, ones = np.zeros((len(u), 3)), np.ones((len(u), 1))
    rows = np.concatenate([u, ones], 1)  # (n, 3)
    system = np.concatenate([
        np.concatenate([rows, zeros, -x[:, :1] * rows], 1),
        np.concatenate([zeros, rows, -x[:, 1:] * rows], 1),
    ])  # fmt: skip
    _, scales, vectors = np.linalg.svd(system)
    if scales[7] < 1e-9 * scales[0]:
        raise DataError("the marks do not fix a map, as too many lie on a line; spread them out")
    matrix = np.linalg.inv(b) @ vectors[8].reshape(3, 3) @ a
    return np.asarray(matrix / np.linalg.norm(matrix))


def _normalized(points: Array) -> tuple[Array, Array]:
    """Return a matrix that moves points to mean 0 and mean distance √2, and the points there."""
    centre = points.mean(0)
    distance = np.linalg.norm(points - centre, axis=1).mean()
    if distance == 0:
        raise DataError("all marks are in one place; spread them out")
    scale = np.sqrt(2) / distance
    matrix = np.array([[scale, 0, -scale * centre[0]], [0, scale, -scale * centre[1]], [0, 0, 1]])
    return matrix, (points - centre) * scale


def _project(matrix: Array, points: Array) -> Array:
    points = np.asarray(points, float)
    rows = np.concatenate([points, np.ones((*points.shape[:-1], 1))], -1) @ matrix.T
    return np.asarray(rows[..., :2] / rows[..., 2:])
