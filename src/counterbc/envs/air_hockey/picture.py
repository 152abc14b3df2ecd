"""The table from above: the paddle at the left, the way of the puck behind it."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.envs.air_hockey.world import (
    AT_PADDLE,
    AT_PUCK,
    CENTRE,
    LENGTH,
    PADDLE,
    PUCK,
    REACH_HIGH,
    WIDTH,
)

Array = NDArray[Any]

SCALE = 400  # pixels per metre
RAIL = 16  # pixels around the table, so that both sides are multiples of 16, as films like it
SHAPE = round(WIDTH * SCALE) + 2 * RAIL, round(LENGTH * SCALE) + 2 * RAIL
_X = ((np.arange(SHAPE[1]) + 0.5 - RAIL) / SCALE)[None, :]  # (1, W), metres
_Y = (WIDTH / 2 - (np.arange(SHAPE[0]) + 0.5 - RAIL) / SCALE)[:, None]  # (H, 1), up

WOOD, PAD, ICE = (58, 66, 82), (150, 62, 58), (244, 247, 250)
RED, BLUE = (226, 128, 124), (150, 182, 224)
PADDLE_COLOR, GRIP, PUCK_COLOR = (34, 92, 176), (90, 142, 214), (206, 44, 40)
SHADOW = np.array([0.006, -0.008])  # how far it is thrown
TRAIL = 16  # steps of the puck that stay visible


def draw(trail: Array) -> NDArray[np.uint8]:
    """The last state, and where the puck was before: (T, 11) → (352, 672, 3)."""
    image = _table().copy()
    ways = trail[-TRAIL - 1 :, AT_PUCK]
    for i, (a, b) in enumerate(pairwise(ways)):
        for part in (0.0, 0.5):
            age = (i + part + TRAIL + 1 - len(ways)) / TRAIL  # 0 old … 1 new
            _disc(image, a + part * (b - a), PUCK * (0.3 + 0.5 * age), PUCK_COLOR, 0.25 * age)
    for at, radius in ((trail[-1, AT_PADDLE], PADDLE), (trail[-1, AT_PUCK], PUCK)):
        _disc(image, at + SHADOW, radius, (0, 0, 0), 0.18)
    _disc(image, trail[-1, AT_PUCK], PUCK, PUCK_COLOR)
    _disc(image, trail[-1, AT_PUCK], 0.65 * PUCK, (228, 84, 78))
    _disc(image, trail[-1, AT_PADDLE], PADDLE, PADDLE_COLOR)
    _disc(image, trail[-1, AT_PADDLE], 0.45 * PADDLE, GRIP)
    return np.asarray(np.round(image), np.uint8)


@cache
def _table() -> Array:
    """What does not move: rails, the pad at the near end, markings, and the end of the reach."""
    image = np.empty((*SHAPE, 3))
    image[:] = WOOD
    inside = (_X > 0) & (_X < LENGTH) & (abs(_Y) < WIDTH / 2)
    image[(_X < 0) & (abs(_Y) < WIDTH / 2)] = PAD
    image[inside] = ICE
    _paint(image, inside & (abs(_X - CENTRE) < 0.006), RED)
    ring = abs(np.sqrt((_X - CENTRE) ** 2 + _Y**2) - 0.15)
    _paint(image, np.clip((0.005 - ring) * SCALE + 0.5, 0, 1), RED)
    _disc(image, np.array([CENTRE, 0.0]), 0.018, RED)
    dashes = (abs(_X - REACH_HIGH[0] - PADDLE) < 0.003) & (np.floor(_Y / 0.02) % 2 == 0)
    _paint(image, inside & dashes, BLUE)
    return image


def _disc(image: Array, at: Array, radius: float, color: Any, opacity: float = 1.0) -> None:
    """With a soft edge of one pixel; only the square around it is computed."""
    rows = np.abs(_Y[:, 0] - at[1]) < radius + 0.01
    columns = np.abs(_X[0] - at[0]) < radius + 0.01
    if not (rows.any() and columns.any()):
        return
    box = slice(*_ends(rows)), slice(*_ends(columns))
    away = np.sqrt((_X[:, box[1]] - at[0]) ** 2 + (_Y[box[0]] - at[1]) ** 2)
    _paint(image[box], opacity * np.clip((radius - away) * SCALE + 0.5, 0, 1), color)


def _ends(flags: Array) -> tuple[int, int]:
    where = np.flatnonzero(flags)
    return int(where[0]), int(where[-1]) + 1


def _paint(image: Array, opacity: Array, color: Any) -> None:
    image += opacity[..., None] * (np.array(color) - image)
