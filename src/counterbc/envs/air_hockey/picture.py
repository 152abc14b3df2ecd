"""The table from above: the paddle at the left, the trail of the puck behind it."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from counterbc.data.arrays import Array
from counterbc.envs.air_hockey.table import (
    AT_PADDLE,
    AT_PUCK,
    CENTRE,
    LENGTH,
    PADDLE,
    PUCK,
    REACH_HIGH,
    WIDTH,
)
from counterbc.envs.painting import Canvas

SCALE = 400  # pixels per metre
RAIL = 16  # pixels around the table, so that both sides are multiples of 16, as video codecs want
SHAPE = round(WIDTH * SCALE) + 2 * RAIL, round(LENGTH * SCALE) + 2 * RAIL

WOOD, PAD, ICE = (58, 66, 82), (150, 62, 58), (244, 247, 250)
RED, BLUE = (226, 128, 124), (150, 182, 224)
PADDLE_COLOR, GRIP, PUCK_COLOR = (34, 92, 176), (90, 142, 214), (206, 44, 40)
SHADOW = np.array([0.006, -0.008])  # offset in metres
TRAIL = 16  # steps of the puck that stay visible


def draw(trail: Array) -> NDArray[np.uint8]:
    """Draw the last state, and where the puck was before: (T, 11) → (352, 672, 3)."""
    canvas = _table().copy()
    ways = trail[-TRAIL - 1 :, AT_PUCK]
    for i, (a, b) in enumerate(pairwise(ways)):
        for share in (0.0, 0.5):
            age = (i + share + TRAIL + 1 - len(ways)) / TRAIL  # 0 old … 1 new
            canvas.disc(a + share * (b - a), PUCK * (0.3 + 0.5 * age), PUCK_COLOR, 0.25 * age)
    paddle, puck = trail[-1, AT_PADDLE], trail[-1, AT_PUCK]
    for at, radius in ((paddle, PADDLE), (puck, PUCK)):
        canvas.disc(at + SHADOW, radius, (0, 0, 0), 0.18)
    canvas.disc(puck, PUCK, PUCK_COLOR)
    canvas.disc(puck, 0.65 * PUCK, (228, 84, 78))
    canvas.disc(paddle, PADDLE, PADDLE_COLOR)
    canvas.disc(paddle, 0.45 * PADDLE, GRIP)
    return canvas.picture()


@cache
def _table() -> Canvas:
    """Draw what does not move: rails, the near end's pad, markings, and the end of the reach."""
    canvas = Canvas(SHAPE[1], SHAPE[0], SCALE, origin=(RAIL, SHAPE[0] / 2), color=WOOD)
    x, y = canvas.x, canvas.y
    inside = (x > 0) & (x < LENGTH) & (abs(y) < WIDTH / 2)
    canvas.area((x < 0) & (abs(y) < WIDTH / 2), PAD)
    canvas.area(inside, ICE)
    canvas.area(inside & (abs(x - CENTRE) < 0.006), RED)
    canvas.ring((CENTRE, 0.0), 0.15, 0.005, RED)
    canvas.disc((CENTRE, 0.0), 0.018, RED)
    dashes = (abs(x - REACH_HIGH[0] - PADDLE) < 0.003) & (np.floor(y / 0.02) % 2 == 0)
    canvas.area(inside & dashes, BLUE)
    return canvas
