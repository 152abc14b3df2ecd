"""An expert that picks the can up and drops it in its bin, from the observation alone.

Its aim is a continuous function of the positions of can, hand and fingers: above the can, down a
funnel, up as the fingers close, across, down, open, away. So it recovers wherever an error leads
it, and a policy without memory can learn it. Only the gripper's two values jump.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array

CAN, HAND, TURN = slice(0, 3), slice(14, 17), slice(17, 21)
"""Columns of the can's position, the hand's position and the hand's quaternion."""
BIN = np.array([0.16, 0.38])  # x, y in the can's bin, whose middle is at the end of the arm's reach
OPEN, CLOSE = -1.0, 1.0

GAIN = 14.0  # action per metre; an action of 1 moves the hand by 1.3 cm a step
FAST = 0.8  # the expert's largest move per axis; 1 would clip the errors that people add
HOVER, FUNNEL, STEEP = 0.12, 0.006, 4.0
"""The aim is HOVER above the can while the hand is far from it. It comes down when the hand is less
than HOVER / STEEP to the side, and is at the can when the hand is FUNNEL to the side."""
CARRY, CLEAR, LOW = 1.08, (0.98, 1.04), 0.88
"""Heights: of carrying, between which the hand begins to cross, and of the aim in the bin."""
ABOVE = (0.31, 0.37)
"""The hand comes down between these y: the bin begins at 0.28, and the hand comes from lower y."""
CLOSE_AT, OPEN_AT = 0.025, 0.945
"""Heights at which the fingers close, above the can's middle, and open, over the bin."""
NEAR, LOOSE = 0.02, 0.04
"""Distances to the can within which the fingers start to close, and within which they continue."""
SHUTTING, GRASP = 0.076, (0.058, 0.053)
"""Fingers closer than the first distance are closing; between the others they grasp the can, and
the hand sets off. The can is 5 cm wide, and open fingers are 8 cm apart."""
DOWN = np.array([1.0, 0.0, 0.0, 0.0])  # the quaternion (x, y, z, w) of a hand that points down
STEADY = 2.0  # rotation action per radian off


def ramp(x: Array, ends: tuple[float, float]) -> Array:
    """Return 0 at the first end and beyond it, 1 at the second, and interpolate in between."""
    return np.asarray(np.clip((x - ends[0]) / (ends[1] - ends[0]), 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Scene:
    """The part of the observations that the expert reads, for N episodes."""

    can: Array  # (N, 3)
    hand: Array  # (N, 3)
    turn: Array  # (N, 4)
    apart: Array  # (N,), of the fingers

    @staticmethod
    def of(obs: Array) -> Scene:
        """Read observations (N, 23)."""
        o = obs.astype(np.float64)
        return Scene(o[:, CAN], o[:, HAND], o[:, TURN], o[:, 21] - o[:, 22])

    @property
    def aside(self) -> Array:
        """Return the horizontal distance of the hand from the can."""
        return np.asarray(np.hypot(*(self.can - self.hand)[:, :2].T))

    def within(self, distance: float) -> Array:
        """Return whether the can is this near, between the fingers."""
        above = np.abs(self.can - self.hand)[:, 2]
        return np.asarray((self.aside < distance) & (above < distance + 0.01))

    @property
    def grasp(self) -> Array:
        """Return how firmly the fingers hold the can, from 0 to 1."""
        return np.where(self.within(LOOSE), ramp(self.apart, GRASP), 0.0)

    @property
    def over_bin(self) -> Array:
        """Return how far the hand is over the bin, from 0 to 1."""
        return ramp(self.hand[:, 1], ABOVE)


def target(
    scene: Scene, close_at: float = CLOSE_AT, open_at: float = OPEN_AT
) -> tuple[Array, Array]:
    """Return where the hand should go, (N, 3), and the gripper's action, (N,)."""
    grasp = scene.grasp[:, None]
    place = (1 - grasp) * _to_can(scene) + grasp * _to_bin(scene)
    near = scene.within(NEAR) & (scene.hand[:, 2] - scene.can[:, 2] < close_at)
    shut = near | (scene.within(LOOSE) & (scene.apart < SHUTTING))
    let_go = (scene.over_bin > 0.5) & ((scene.hand[:, 2] < open_at) | (scene.grasp < 1))
    return place, np.where(shut & ~let_go, CLOSE, OPEN)


def _to_can(scene: Scene) -> Array:
    """Aim down a funnel to the can; over the bin, where it is let go, up and away."""
    place = scene.can.copy()
    place[:, 2] += np.clip(STEEP * (scene.aside - FUNNEL), 0.0, HOVER)
    over_bin = scene.over_bin[:, None]
    return np.asarray((1 - over_bin) * place + over_bin * [*BIN, CARRY])


def _to_bin(scene: Scene) -> Array:
    """Aim up, across, and down again."""
    across = np.maximum(ramp(scene.hand[:, 2], CLEAR), scene.over_bin)[:, None]
    flat = scene.hand[:, :2] + across * (BIN - scene.hand[:, :2])
    height = CARRY + (LOW - CARRY) * scene.over_bin
    return np.concatenate([flat, height[:, None]], axis=1)


def towards(scene: Scene, place: Array, grip: Array, speed: float = FAST) -> Array:
    """Return the action that goes there with the hand pointing down: (N, 7).

    Each axis moves by GAIN times its distance, limited smoothly to `speed`. Axes do not limit each
    other, so that each is controlled in the same way along the whole path, and can be learned.
    """
    way = GAIN * (place - scene.hand)  # (N, 3)
    move = way / np.sqrt(1 + (way / speed) ** 2)
    turn = np.clip(STEADY * off_vertical(scene.turn), -1.0, 1.0)
    return np.concatenate([move, turn, grip[:, None]], axis=1)


def off_vertical(turn: Array) -> Array:
    """Return the rotation vector (N, 3) that turns a hand with this quaternion (N, 4) to DOWN."""
    x, y, z, w = turn.T
    # DOWN · conjugate(turn), with DOWN = (1, 0, 0, 0).
    q = np.stack([w, z, -y, x], axis=1)
    q *= np.where(q[:, 3:] < 0, -1.0, 1.0)
    size = np.sqrt((q[:, :3] ** 2).sum(1, keepdims=True))
    angle = 2 * np.arctan2(size, q[:, 3:])
    return np.asarray(q[:, :3] / np.maximum(size, 1e-9) * angle)


def expert(obs: Array, key: Array, t: int) -> Array:
    """Return the expert's actions: (N, 23) → (N, 7)."""
    scene = Scene.of(obs)
    return towards(scene, *target(scene))
