"""An expert that reads the frames: where the road goes, and the speed bar.

So it drives in every simulator with the same graphics. It looks for the grey of the road on arcs
ahead of the car, one after the other from near to far, steers towards the middle of the road on one
of them, and slows down when the farther ones turn.
"""

from __future__ import annotations

import numpy as np

from counterbc.data.arrays import Array

# Frames are 96×96, the lowest 12 rows show the instruments. Lengths are the game's.
_CAR = 72.0, 47.5  # row, column
_SCALE = 1.944, 1.555  # pixels per unit of length, down and across
_RADII = np.arange(7.0, 36.0)  # of the arcs: (R,)
_ANGLES = np.linspace(-1.6, 1.6, 81)  # of the points of an arc, to the right: (D,)
_ROW = np.round(_CAR[0] - _SCALE[0] * _RADII[:, None] * np.cos(_ANGLES)).astype(int)  # (R, D)
_COLUMN = np.round(_CAR[1] + _SCALE[1] * _RADII[:, None] * np.sin(_ANGLES)).astype(int)
_VISIBLE = (_ROW >= 0) & (_ROW < 82) & (_COLUMN >= 0) & (_COLUMN < 96)
_POINT = np.where(_VISIBLE, _ROW * 96 + _COLUMN, 0)
_WIDTH = 6.0  # about half a road: the largest sideways shift from one arc to the next
_GREY, _FAR, _FURTHEST = 105, 12, 26  # the road's brightness; arcs from 19 and at 33


def road(obs: Array) -> Array:
    """Return the angle of the middle of the road on each arc, to the right: (N, R)."""
    pixels = obs.reshape(len(obs), 96 * 96, 3)[:, _POINT].astype(np.int16)  # (N, R, D, 3)
    grey = (np.ptp(pixels, axis=-1) < 16) & (abs(pixels[..., 1] - _GREY) < 25) & _VISIBLE
    middle, path = np.zeros(len(obs)), []
    for i, radius in enumerate(_RADII):
        aside = (_ANGLES - middle[:, None]) / max(_WIDTH / radius, 0.15)
        weight = grey[:, i] * np.exp(-(aside**2))  # (N, D)
        total = weight.sum(1)
        # Not by @, which rounds differently in batches of different sizes.
        mean = (weight * _ANGLES).sum(1) / np.maximum(total, 1e-9)
        middle = np.where(total > 0.3, mean, middle)  # straight on where no road is seen
        path.append(middle)
    return np.stack(path, axis=1)


def speed(obs: Array) -> Array:
    """Return the height of the speed bar in pixels, each about 21 length units per second: (N,)."""
    return np.asarray(obs[:, 84:94, 12:14].mean(axis=(2, 3)).sum(axis=1) / 255)


def expert(obs: Array, key: Array, t: int) -> Array:
    """Return steer, gas and brake for frames (N, 96, 96, 3): (N, 3)."""
    path, v = road(obs), speed(obs)
    aim = 4 + (2 * v).astype(int)  # the faster, the farther
    side = np.take_along_axis(path, aim[:, None], 1)[:, 0]
    turn = abs(path)
    bend = np.maximum(turn[:, _FURTHEST], 0.7 * turn[:, _FAR:].max(1))
    target = np.maximum(4 - 2.5 * bend, 1.2)
    # Straight on from the start, where the view is still zooming in.
    steer = np.clip(1.8 * side, -1, 1) * np.minimum(v, 1)
    gas = np.clip(0.15 * (target - v) + 0.2, 0, 0.6)
    brake = np.clip(0.2 * (v - target - 0.7), 0, 0.8)
    return np.stack([steer, gas, brake], axis=1)
