"""The motion of puck and paddle, for N tables at once.

The paddle is infinitely heavy and keeps a velocity u for a step; the puck glides straight between
contacts. A contact with normal n and restitution e leaves it

    v − (1 + e) (v · n) n              off a wall
    v − (1 + e) ((v − u) · n) n        off the paddle: the same law in the paddle's frame

Times of contact are computed, not searched for in small steps, so nothing tunnels at any speed.
Arrays are (2, N). Sums are written out per coordinate: unlike reductions they round the same
whatever the shape.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.envs.air_hockey.table import (
    BAT,
    FASTEST,
    FRICTION,
    GRAZE,
    REACH_HIGH,
    REACH_LOW,
    TABLE_HIGH,
    TABLE_LOW,
    TOUCH,
    WALLS,
)


def within(a: Array, low: Any, high: Any) -> Array:
    """Clip; unlike np.clip, the call itself costs little."""
    return np.asarray(np.minimum(np.maximum(a, low), high))


def length(a: Array) -> Array:
    """Return |a|: (2, N) → (N,)."""
    return np.asarray(np.sqrt(a[0] * a[0] + a[1] * a[1]))


def slow_down(velocity: Array, seconds: float) -> Array:
    """Apply friction: the speed falls by FRICTION per second, down to rest."""
    speed = np.maximum(length(velocity), 1e-300)
    return np.asarray(velocity * np.maximum(1.0 - FRICTION * seconds / speed, 0.0))


def reachable(puck: Array) -> Array:
    """Return whether the paddle can touch a puck there: (2, N) → (N,)."""
    return np.asarray(length(puck - within(puck, REACH_LOW, REACH_HIGH)) < TOUCH)


def glide(bodies: Array, duration: Array) -> None:
    """Move puck and paddle for `duration` seconds (N,), in place.

    `bodies` (8, N) are the puck, its velocity, the paddle and its velocity. All move to their first
    contact, or to the end; those in contact bounce and continue by recursion.
    """
    puck, velocity, paddle, u = bodies.reshape(4, 2, -1)
    meeting = paddle_time(puck - paddle, velocity - u)
    times = np.concatenate([wall_times(puck, velocity), meeting[None]])  # (3, N)
    first = times.min(axis=0)
    seconds = np.minimum(first, duration)
    puck[:] = within(puck + velocity * seconds, TABLE_LOW, TABLE_HIGH)
    paddle += u * seconds
    touching = np.flatnonzero(first < duration)
    if len(touching):
        subset, elapsed = bodies.take(touching, axis=1), first[touching]
        bounce(subset, times.take(touching, axis=1) <= elapsed)
        glide(subset, duration[touching] - elapsed)
        bodies[:, touching] = subset


def bounce(bodies: Array, contact: Array) -> None:
    """Change velocities at contacts with the walls along each axis and the paddle: (3, N) bool."""
    puck, velocity, paddle, u = bodies.reshape(4, 2, -1)
    velocity[:] = off_wall(velocity, contact[:2])
    velocity[:] = np.where(contact[2], off_paddle(puck - paddle, velocity, u), velocity)


def wall_times(puck: Array, velocity: Array) -> Array:
    """Return when the puck would meet the wall it moves to, along each axis: (2, N)."""
    wall = np.where(velocity > 0, TABLE_HIGH, TABLE_LOW)
    never = np.full(velocity.shape, np.inf)
    moves = np.abs(velocity) > 1e-12  # slower, it arrives nowhere in a step, and times overflow
    return np.asarray(np.divide(wall - puck, velocity, out=never, where=moves))


def paddle_time(apart: Array, w: Array) -> Array:
    """Return when |apart + w · time| falls to TOUCH: (N,); infinite if never, or only grazing."""
    a = w[0] * w[0] + w[1] * w[1]
    b = apart[0] * w[0] + apart[1] * w[1]
    c = apart[0] * apart[0] + apart[1] * apart[1] - TOUCH * TOUCH
    root2 = b * b - a * c
    meet = (b < 0) & (root2 > GRAZE)
    never = np.full(len(b), np.inf)
    time = np.divide(c, np.sqrt(np.maximum(root2, 0.0)) - b, out=never, where=meet)
    return np.asarray(np.maximum(time, 0.0))


def off_wall(velocity: Array, contact: Array) -> Array:
    """Return the velocity after contact with the walls that it leads to: (2, N)."""
    into_pad = contact[0] & (velocity[0] < 0)
    return np.asarray(np.where(contact, -WALLS * velocity, velocity) * ~into_pad)


def off_paddle(apart: Array, velocity: Array, u: Array) -> Array:
    """Return the velocity after contact with a paddle of velocity u; `apart` is puck − paddle."""
    n = apart / length(apart)
    w = velocity - u
    w = w - (1 + BAT) * np.minimum(w[0] * n[0] + w[1] * n[1], 0.0) * n
    # Limited in the paddle's frame, where it still points away; in the table's it might not.
    return np.asarray(u + w * (FASTEST / np.maximum(length(w), FASTEST)))
