"""What one camera saw in one episode, read a stretch at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import DataError, OptionError
from counterbc.formats import open_stream
from counterbc.formats.asked import AskedPart

STRETCH = 2**25
"""Bytes of images that are read at once."""


@dataclass
class CameraFilm:
    """The frames of a camera; a stretch of them is in memory."""

    path: Path
    format: str
    camera: str
    episode: str
    length: int
    largest: int = STRETCH
    _begin: int = 0
    _frames: Array = field(default_factory=lambda: np.empty((0, 0, 0, 0), np.uint8))

    def frame(self, t: int) -> Array:
        """Return the image of a step: (H, W, 3) uint8."""
        if not 0 <= t < self.length:
            raise OptionError(f"step {t} of {self.episode!r:.60} has no image; choose another step")
        if not self._begin <= t < self._begin + len(self._frames):
            self._read(t)
        return as_picture(self._frames[t - self._begin])

    def _read(self, t: int) -> None:
        """Read a stretch from step `t` on; the first one is a single image, to see its size."""
        size = self._frames[0].nbytes if len(self._frames) else self.largest
        count = max(1, self.largest // max(size, 1))
        part = AskedPart(frozenset({self.episode}), t, t + count)
        stream = open_stream(self.path, [self.camera], format=self.format, part=part)
        raw = next(stream.raw_episodes, None)
        if raw is None or raw.error is not None or not len(raw.obs):
            reason = "it is not there any more" if raw is None else raw.error or "it is empty"
            raise DataError(f"{self.camera} of {self.episode!r:.60} cannot be shown ({reason})")
        self._begin, self._frames = t, raw.obs


def as_picture(image: Array) -> Array:
    """Return an image or a depth map with one, three or four channels as (H, W, 3) uint8."""
    pixels = image if image.ndim == 3 else image[..., None]  # (H, W, C)
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4):
        raise DataError(f"images of shape {image.shape} cannot be shown; expected (H, W, 1 or 3)")
    if pixels.dtype != np.uint8:
        pixels = _grey(pixels)
    colours = pixels[..., :3] if pixels.shape[2] > 1 else pixels
    return np.ascontiguousarray(np.broadcast_to(colours, (*pixels.shape[:2], 3)))


def _grey(values: Array) -> Array:
    """Return numbers as brightness, from black at the least to white at the largest."""
    finite = np.where(np.isfinite(values), values, 0.0).astype(np.float64)
    low, high = finite.min(), finite.max()
    return np.asarray(255 * (finite - low) / (high - low or 1.0)).astype(np.uint8)
