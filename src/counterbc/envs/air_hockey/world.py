"""A paddle keeps an air hockey puck going across a table.

x runs along the table from the near end, where the paddle is, to the far end; y across it from the
middle; metres and seconds. Friction takes the same speed from the puck each second until it rests.
The paddle's reach leaves the puck `ROOM` at every wall: it has that far to go between a wall and
the paddle, which takes time at a bounded speed, so contacts in a step are few and no overlap can
trap it. `physics` has the laws of contact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from counterbc.data.arrays import Array
from counterbc.envs.air_hockey.physics import glide, length, reachable, slow_down, within
from counterbc.envs.air_hockey.picture import draw
from counterbc.envs.air_hockey.table import (
    AT_BEFORE,
    AT_PADDLE,
    AT_PUCK,
    AT_VELOCITY,
    CENTRE,
    COLUMNS,
    DT,
    HITS,
    LENGTH,
    PATH,
    RATE,
    REACH_HIGH,
    REACH_LOW,
    TIME,
    TOP_SPEED,
    TOUCH,
    WIDTH,
)
from counterbc.envs.batched import BatchedEnv, BatchedVectorEnv, Dynamics, uniform
from counterbc.envs.registry import WORLDS


@dataclass(frozen=True)
class Rally(Dynamics):
    """A rally; the action is the paddle's velocity, 1 being its top speed along an axis.

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
        """Place the paddle at random across its reach, and the puck at rest before it."""
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
        # Returned states are stored column by column, so only first states are copied here.
        old = np.ascontiguousarray(state.T)  # (11, N)
        paddle, puck = old[AT_PADDLE], old[AT_PUCK]  # (2, N)
        push = within(np.ascontiguousarray(action.T), -1.0, 1.0) * (TOP_SPEED * DT)
        new_paddle = within(paddle + push, REACH_LOW, REACH_HIGH)
        move = new_paddle - paddle
        # Half of the friction before and half after: the path of a sliding puck is then exact.
        velocity = slow_down(old[AT_VELOCITY], DT / 2)
        bodies = np.concatenate([puck, velocity, paddle, move * RATE])  # (8, N)
        glide(bodies, np.full(len(state), DT))
        after, velocity = bodies[:2], slow_down(bodies[2:4], DT / 2)
        hit = (puck[0] <= CENTRE) & (after[0] > CENTRE)
        totals = [old[HITS] + hit, old[PATH] + length(move), old[TIME] + DT]
        new = np.concatenate([new_paddle, after, puck, velocity, totals])  # (11, N)
        rests = (velocity[0] == 0) & (velocity[1] == 0)
        return new.T, hit.astype(np.float64), rests & ~reachable(after)

    def observe(self, state: Array) -> Array:
        return state[:, :6].astype(np.float32, order="C")

    def measure(self, state: Array) -> dict[str, Array]:
        """Return the paper's three measures; without a hit, the whole path and time."""
        hits = state[:, HITS]
        divisor = np.maximum(hits, 1.0)
        values = (hits, state[:, PATH] / divisor, state[:, TIME] / divisor)
        return dict(zip(self.measures, values, strict=True))

    def draw(self, trail: Array) -> NDArray[np.uint8]:
        return draw(trail)


class AirHockey(BatchedEnv, dynamics=Rally):
    """One interaction of at most 30 seconds."""


class AirHockeyVector(BatchedVectorEnv, dynamics=Rally):
    """N interactions."""
