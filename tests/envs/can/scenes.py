"""Observations of Can with hand, can and fingers at given places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.envs.can.expert import expert

Array = NDArray[Any]
CAN = np.array([0.1, -0.2, 0.86])
DOWN = (1.0, 0.0, 0.0, 0.0)


def off(x: float, y: float, z: float) -> Array:
    """Return the place at this offset from the can."""
    return np.asarray(CAN + np.array([x, y, z]))


def observe(hand: Any, apart: float, can: Any = CAN, turn: Any = DOWN) -> Array:
    """Return an observation; what the expert does not read is 0."""
    obs = np.zeros(23)
    obs[:3], obs[14:17], obs[17:21], obs[21:] = can, hand, turn, (apart / 2, -apart / 2)
    return obs


def act(hand: Any, apart: float, can: Any = CAN, turn: Any = DOWN) -> Array:
    """Return the expert's action there."""
    return np.asarray(expert(observe(hand, apart, can, turn)[None], np.zeros(1, np.int64), 0)[0])
