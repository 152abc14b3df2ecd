"""Sizes and laws of the air hockey table, in metres and seconds, and the columns of a state."""

from __future__ import annotations

import numpy as np

from counterbc.envs.registry import WORLDS

RATE = WORLDS["air-hockey"].rate
DT = 1 / RATE
LENGTH, WIDTH = 1.6, 0.8
CENTRE = LENGTH / 2
PUCK, PADDLE = 0.04, 0.1  # radii
TOUCH = PUCK + PADDLE  # distance of their centres in contact
ROOM = 0.02  # left to the puck between the paddle's reach and a wall
TOP_SPEED = 1.0  # of the paddle along each axis
FRICTION = 0.1  # speed the puck loses each second
FAR, SIDE, BAT = 0.9, 0.9, 0.5
"""Restitutions. The near wall has none: it is padded, and the puck stays where it touches it."""
FASTEST = 3.0
"""Largest speed after a hit, in the paddle's frame: at most 3 + √2 on the table."""
WALLS = np.array([[FAR], [SIDE]])

TABLE_LOW = np.array([[PUCK], [PUCK - WIDTH / 2]])  # (2, 1), of the puck's centre
TABLE_HIGH = np.array([[LENGTH - PUCK], [WIDTH / 2 - PUCK]])
_MARGIN = PADDLE + 2 * PUCK + ROOM
REACH_LOW = np.array([[_MARGIN], [_MARGIN - WIDTH / 2]])  # (2, 1), of the paddle's centre
REACH_HIGH = np.array([[0.6], [WIDTH / 2 - _MARGIN]])

GRAZE = 1e-16
"""Contacts with a squared (approach speed × distance) below this are lost in rounding: none."""

# The columns of a state: the six observed ones, then those of the dynamics alone.
AT_PADDLE, AT_PUCK, AT_BEFORE, AT_VELOCITY = slice(0, 2), slice(2, 4), slice(4, 6), slice(6, 8)
HITS, PATH, TIME = 8, 9, 10
COLUMNS = 11
