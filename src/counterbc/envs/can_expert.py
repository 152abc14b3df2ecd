"""Picks the can up and drops it in its bin, from what a policy sees: no clock, no memory.

The phase follows from where the can, the hand and the fingers are: above the can, down, close, up,
across, down, open, away. So it recovers from wherever an error leads it, and a policy without
memory can learn it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

CAN, HAND, TURN = slice(0, 3), slice(14, 17), slice(17, 21)
"""Where an observation holds the can's position, the hand's and its quaternion."""
BIN = np.array([0.1975, 0.4025])  # x, y of the middle of the can's bin
OPEN, CLOSE = -1.0, 1.0

GAIN = 25.0  # action per metre; at 10 the hand stalls 2 cm short
HOVER, CARRY, LOW = 0.13, 1.08, 0.97
"""Metres above the aim at the can before the descent; heights of carrying it and letting it go."""
FUNNEL = (0.01, 0.025)
"""It comes down to the can between these distances aside of it, rather than at once."""
DEEP = 0.03
"""How far below where it closes and lets go the hand aims, as it comes to rest short of its aim: at
this gain up to 2 cm, where the action is still 0.2 to 0.5."""
NEAR, LOOSE = 0.02, 0.04
"""The hand is at the can within the first, and stays at it within the second while it closes."""
SHUTTING, HELD = 0.076, 0.056
"""Fingers less apart than this are closing, or hold the can, which is 5 cm wide; they open 8 cm."""
DOWN = np.array([1.0, 0.0, 0.0, 0.0])  # the quaternion (x, y, z, w) of a hand that points down
STEADY = 1.0  # rotation action per radian off


@dataclass(frozen=True, eq=False)
class Seen:
    """What the expert reads, for N episodes."""

    can: Array  # (N, 3)
    hand: Array  # (N, 3)
    turn: Array  # (N, 4)
    apart: Array  # (N,), of the fingers

    @staticmethod
    def of(obs: Array) -> Seen:
        o = obs.astype(np.float64)
        return Seen(o[:, CAN], o[:, HAND], o[:, TURN], o[:, 21] - o[:, 22])

    @property
    def aside(self) -> Array:
        """Distance of the hand from above the can."""
        return np.asarray(np.hypot(*(self.can - self.hand)[:, :2].T))

    def within(self, distance: float) -> Array:
        """The can is between the fingers."""
        above = np.abs(self.can - self.hand)[:, 2]
        return np.asarray((self.aside < distance) & (above < distance + 0.01))

    @property
    def reached(self) -> Array:
        """The can is where the fingers should close, or go on closing."""
        return np.asarray(self.within(NEAR) | (self.within(LOOSE) & (self.apart < SHUTTING)))

    @property
    def held(self) -> Array:
        return np.asarray(self.within(LOOSE) & (self.apart < HELD))

    @property
    def over_bin(self) -> Array:
        return np.asarray(np.hypot(*(self.hand[:, :2] - BIN).T) < 2 * NEAR)


def target(seen: Seen) -> tuple[Array, Array]:
    """Where the hand should go, (N, 3), and what the fingers should do, (N,)."""
    place, grip = seen.can.copy(), np.full(len(seen.can), OPEN)
    place[:, 2] += HOVER * np.clip((seen.aside - FUNNEL[0]) / (FUNNEL[1] - FUNNEL[0]), 0, 1) - DEEP
    grip[seen.reached & ~seen.over_bin] = CLOSE
    held, over = seen.held, seen.over_bin
    lifted = seen.hand[:, 2] > CARRY - 0.05
    place[held, 2] = CARRY
    place[held & lifted, :2] = BIN
    low = seen.hand[:, 2] < LOW + 0.03
    place[held & over] = [*BIN, LOW - DEEP]
    grip[held] = CLOSE
    grip[held & over & low] = OPEN
    gone = over & ~held  # let go: the can falls, the hand leaves
    place[gone] = [*BIN, CARRY]
    return place, grip


def towards(seen: Seen, place: Array, grip: Array) -> Array:
    """The action that goes there with the hand pointing down: (N, 7)."""
    move = np.clip(GAIN * (place - seen.hand), -1.0, 1.0)
    turn = np.clip(STEADY * off_vertical(seen.turn), -1.0, 1.0)
    return np.concatenate([move, turn, grip[:, None]], axis=1)


def off_vertical(turn: Array) -> Array:
    """The rotation, as a vector (N, 3), that brings a hand with this quaternion (N, 4) to DOWN."""
    x, y, z, w = turn.T
    # DOWN · conjugate(turn), with DOWN = (1, 0, 0, 0).
    found = np.stack([w, z, -y, x], axis=1)
    found *= np.where(found[:, 3:] < 0, -1.0, 1.0)
    size = np.sqrt((found[:, :3] ** 2).sum(1, keepdims=True))
    angle = 2 * np.arctan2(size, found[:, 3:])
    return np.asarray(found[:, :3] / np.maximum(size, 1e-9) * angle)


def expert(obs: Array, key: Array, t: int) -> Array:
    """(N, 23) → (N, 7)."""
    seen = Seen.of(obs)
    return towards(seen, *target(seen))
