"""A paddle keeps an air hockey puck going across a table.

x runs along the table from the near end, where the paddle is, to the far end; y across it from the
middle; metres and seconds. The paddle is infinitely heavy and keeps a velocity u for a step; the
puck glides straight between contacts. A contact with normal n and restitution e leaves it

    v − (1 + e) (v · n) n              off a wall
    v − (1 + e) ((v − u) · n) n        off the paddle: the same law in the paddle's frame

and friction takes the same speed each second until it rests. Times of contact are computed, not
searched for in small steps, so nothing tunnels at any speed. The paddle's reach leaves the puck
`ROOM` at every wall: it has that far to go between a wall and the paddle, which takes time at a
bounded speed, so contacts in a step are few and no overlap can trap it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from counterbc.envs.batched import BatchedEnv, BatchedVectorEnv, Dynamics, uniform
from counterbc.envs.registry import WORLDS

Array = NDArray[Any]

RATE = WORLDS["air-hockey"].rate
DT = 1 / RATE
LENGTH, WIDTH = 1.6, 0.8
CENTRE = LENGTH / 2
PUCK, PADDLE = 0.04, 0.1  # radii
TOUCH = PUCK + PADDLE  # how far apart their centres are in contact
ROOM = 0.02
TOP_SPEED = 1.0  # of the paddle along each axis
FRICTION = 0.1  # speed the puck loses each second
FAR, SIDE, BAT = 0.9, 0.9, 0.5
"""Restitutions. The near wall has none: it is padded, and a puck that gets there stays there."""
FASTEST = 3.0
"""At which a hit sends the puck off, in the paddle's frame: never above 3 + √2 on the table."""
WALLS = np.array([[FAR], [SIDE]])

TABLE_LOW = np.array([[PUCK], [PUCK - WIDTH / 2]])  # (2, 1), of the puck's centre
TABLE_HIGH = np.array([[LENGTH - PUCK], [WIDTH / 2 - PUCK]])
_MARGIN = PADDLE + 2 * PUCK + ROOM
REACH_LOW = np.array([[_MARGIN], [_MARGIN - WIDTH / 2]])  # (2, 1), of the paddle's centre
REACH_HIGH = np.array([[0.6], [WIDTH / 2 - _MARGIN]])

GRAZE = 1e-16
"""Below this squared, approach times distance is lost in rounding and counts as no contact."""

# The columns of a state: the six that are observed, then those that only the dynamics know.
AT_PADDLE, AT_PUCK, AT_BEFORE, AT_VELOCITY = slice(0, 2), slice(2, 4), slice(4, 6), slice(6, 8)
HITS, PATH, TIME = 8, 9, 10
COLUMNS = 11


@dataclass(frozen=True)
class Rally(Dynamics):
    """The action is the paddle's velocity, 1 being its top speed along an axis.

    A hit carries the puck over the centre line, where only the paddle can send it; counting
    contacts instead would pay for trembling at the puck. The interaction ends when the puck rests
    where the paddle cannot touch it.
    """

    steps = WORLDS["air-hockey"].steps
    fps = RATE
    obs_space = Box(
        np.array([0, -WIDTH / 2] * 3, np.float32), np.array([LENGTH, WIDTH / 2] * 3, np.float32)
    )
    action_space = Box(-1.0, 1.0, (2,), np.float32)
    obs_names = ("paddle_x", "paddle_y", "puck_x", "puck_y", "puck_x_before", "puck_y_before")
    action_names = ("paddle_vx", "paddle_vy")
    measures = ("hits", "distance_per_hit", "time_per_hit")

    def start(self, key: Array) -> Array:
        """The paddle somewhere across its reach, the puck at rest before it."""
        across, ahead, aside = uniform(key, "air hockey start", np.zeros_like(key), 3).T
        state = np.zeros((len(key), COLUMNS))
        state[:, 0] = 0.25
        state[:, 1] = REACH_HIGH[1] * (2 * across - 1)
        state[:, 2] = state[:, 0] + TOUCH + 0.05 + 0.1 * ahead
        state[:, 3] = state[:, 1] + 0.04 * (2 * aside - 1)
        state[:, AT_BEFORE] = state[:, AT_PUCK]
        return state

    def advance(
        self, state: Array, action: Array, key: Array, t: Array
    ) -> tuple[Array, Array, Array]:
        # The numbers of a column lie together in what is returned; copies are of first states only.
        old = np.ascontiguousarray(state.T)  # (11, N)
        paddle, puck = old[AT_PADDLE], old[AT_PUCK]  # (2, N)
        push = within(np.ascontiguousarray(action.T), -1.0, 1.0) * (TOP_SPEED * DT)
        reached = within(paddle + push, REACH_LOW, REACH_HIGH)
        moved = reached - paddle
        # Half of the friction before and half after: the way of a puck that slides is then exact.
        velocity = slowed(old[AT_VELOCITY], DT / 2)
        bodies = np.concatenate([puck, velocity, paddle, moved * RATE])  # (8, N)
        glide(bodies, np.full(len(state), DT))
        after, velocity = bodies[:2], slowed(bodies[2:4], DT / 2)
        hit = (puck[0] <= CENTRE) & (after[0] > CENTRE)
        own = [old[HITS] + hit, old[PATH] + length(moved), old[TIME] + DT]
        new = np.concatenate([reached, after, puck, velocity, own])  # (11, N)
        rests = (velocity[0] == 0) & (velocity[1] == 0)
        return new.T, hit.astype(np.float64), rests & ~reachable(after)

    def observe(self, state: Array) -> Array:
        return state[:, :6].astype(np.float32, order="C")

    def measure(self, state: Array) -> dict[str, Array]:
        """The paper's three; without a hit, the whole way and time."""
        hits = state[:, HITS]
        each = np.maximum(hits, 1.0)
        of = (hits, state[:, PATH] / each, state[:, TIME] / each)
        return dict(zip(self.measures, of, strict=True))

    def draw(self, trail: Array) -> NDArray[np.uint8]:
        from counterbc.envs.air_hockey.picture import draw

        return draw(trail)


class AirHockey(BatchedEnv, dynamics=Rally):
    """One interaction of at most 30 seconds."""


class AirHockeyVector(BatchedVectorEnv, dynamics=Rally):
    """N interactions."""


# The physics, for arrays of (2, N). Sums are written out per coordinate: unlike reductions they
# round the same whatever the shape.


def within(a: Array, low: Any, high: Any) -> Array:
    """np.clip, which takes longer to be called than to do its work here."""
    return np.asarray(np.minimum(np.maximum(a, low), high))


def length(a: Array) -> Array:
    """|a|: (2, N) → (N,)."""
    return np.asarray(np.sqrt(a[0] * a[0] + a[1] * a[1]))


def slowed(velocity: Array, seconds: float) -> Array:
    """Friction alone: the speed falls by FRICTION a second, to rest."""
    speed = np.maximum(length(velocity), 1e-300)
    return np.asarray(velocity * np.maximum(1.0 - FRICTION * seconds / speed, 0.0))


def reachable(puck: Array) -> Array:
    """Whether the paddle can touch a puck there: (2, N) → (N,)."""
    return np.asarray(length(puck - within(puck, REACH_LOW, REACH_HIGH)) < TOUCH)


def glide(bodies: Array, left: Array) -> None:
    """Let `left` seconds (N,) pass for puck, velocity, paddle and its velocity: (8, N), in place.

    All move to their first contact, or to the end; those in contact go on by themselves.
    """
    puck, velocity, paddle, u = bodies.reshape(4, 2, -1)
    meeting = paddle_time(puck - paddle, velocity - u)
    times = np.concatenate([wall_times(puck, velocity), meeting[None]])  # (3, N)
    first = times.min(axis=0)
    seconds = np.minimum(first, left)
    puck[:] = within(puck + velocity * seconds, TABLE_LOW, TABLE_HIGH)
    paddle += u * seconds
    some = np.flatnonzero(first < left)
    if len(some):
        part, spent = bodies.take(some, axis=1), first[some]
        bounce(part, times.take(some, axis=1) <= spent)
        glide(part, left[some] - spent)
        bodies[:, some] = part


def bounce(bodies: Array, met: Array) -> None:
    """What the contacts `met`, with the walls along each axis and the paddle, (3, N), change."""
    puck, velocity, paddle, u = bodies.reshape(4, 2, -1)
    velocity[:] = off_wall(velocity, met[:2])
    velocity[:] = np.where(met[2], off_paddle(puck - paddle, velocity, u), velocity)


def wall_times(puck: Array, velocity: Array) -> Array:
    """When the puck would meet the wall it moves to, along each axis: (2, N)."""
    wall = np.where(velocity > 0, TABLE_HIGH, TABLE_LOW)
    never = np.full(velocity.shape, np.inf)
    moves = np.abs(velocity) > 1e-12  # slower, it arrives nowhere in a step, and times overflow
    return np.asarray(np.divide(wall - puck, velocity, out=never, where=moves))


def paddle_time(apart: Array, w: Array) -> Array:
    """When |apart + w · time| falls to TOUCH: (N,); never where it does not or only grazes."""
    a = w[0] * w[0] + w[1] * w[1]
    b = apart[0] * w[0] + apart[1] * w[1]
    c = apart[0] * apart[0] + apart[1] * apart[1] - TOUCH * TOUCH
    root2 = b * b - a * c
    meet = (b < 0) & (root2 > GRAZE)
    never = np.full(len(b), np.inf)
    time = np.divide(c, np.sqrt(np.maximum(root2, 0.0)) - b, out=never, where=meet)
    return np.asarray(np.maximum(time, 0.0))


def off_wall(velocity: Array, met: Array) -> Array:
    """The velocity after contact with the walls that it leads to, where they are met: (2, N)."""
    caught = met[0] & (velocity[0] < 0)
    return np.asarray(np.where(met, -WALLS * velocity, velocity) * ~caught)


def off_paddle(apart: Array, velocity: Array, u: Array) -> Array:
    """The velocity after contact with a paddle of velocity u, the puck `apart` from its centre."""
    n = apart / length(apart)
    w = velocity - u
    w = w - (1 + BAT) * np.minimum(w[0] * n[0] + w[1] * n[1], 0.0) * n
    # Scaled in the frame of the paddle, where it keeps leading away; in the table's it might not.
    return np.asarray(u + w * (FASTEST / np.maximum(length(w), FASTEST)))
