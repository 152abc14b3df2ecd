"""Two cars cross an intersection; the ego car learns, the other one always follows its expert.

Each car pays, at x with the other car at y, goal g and action u,

    cost = (|x + u − g| − |x − g|) + 0.75 · (|x − y| − |x + u − y|)

that is, it wants to come closer to its goal and away from the other car. Both choose in the same
state and move at the same time. All draws of an episode are functions of the episode's key, so an
episode is the same alone and in a batch of any size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from counterbc.data.arrays import Array
from counterbc.envs.batched import BatchedEnv, BatchedVectorEnv, Dynamics, uniform
from counterbc.envs.painting import BLUE, ORANGE, Canvas
from counterbc.envs.registry import WORLDS

EGO_GOAL = np.array([10.0, 0.0])
OTHER_GOAL = np.array([0.0, 10.0])
START_LOW = np.array([-10.0, -10.0, -10.0, -10.0])  # ego x, y, other x, y
START_HIGH = np.array([0.0, 10.0, 10.0, 0.0])
CANDIDATES = 100
STEPS = WORLDS["intersection"].steps
CHUNK = 1024
"""Slots searched at a time, so that memory does not grow with 100 candidates per slot."""


# The dynamics, for N interactions at once. Sums and roots are written out per coordinate: unlike
# reductions they round the same whatever the shape.


def distance(a: Array, b: Array) -> Array:
    """Return |a − b| over the last axis of size 2."""
    dx, dy = a[..., 0] - b[..., 0], a[..., 1] - b[..., 1]
    dx *= dx
    dy *= dy
    dx += dy
    return np.asarray(np.sqrt(dx))


def into_disc(action: Array) -> Array:
    """Scale actions that lie outside the unit disc into it."""
    return action / np.maximum(distance(action, np.zeros(2)), 1.0)[..., None]


def cost(at: Array, other_at: Array, goal: Array, action: Array) -> Array:
    """Return what a car at `at` pays for an action: (..., 2) each → (...)."""
    after = at + action
    progress = distance(after, goal) - distance(at, goal)
    return progress + 0.75 * (distance(at, other_at) - distance(after, other_at))


def best_action(at: Array, other_at: Array, goal: Array, u: Array) -> Array:
    """Return the candidate of least cost, for uniform u in (0, 1): (N, 2, K) → (N, 2)."""
    candidates = into_disc(np.swapaxes(2.0 * u - 1.0, 1, 2))  # (N, K, 2)
    price = cost(at[:, None], other_at[:, None], goal, candidates)  # (N, K)
    return np.asarray(candidates[np.arange(len(at)), price.argmin(axis=1)])


def _search(at: Array, other_at: Array, goal: Array, key: Array, purpose: str, t: Array) -> Array:
    """Return the best of the candidates drawn for this purpose: (N, 2)."""
    out = np.empty((len(at), 2))
    for i in range(0, len(at), CHUNK):
        rows = slice(i, i + CHUNK)
        u = uniform(key[rows], purpose, t[rows], 2 * CANDIDATES).reshape(-1, 2, CANDIDATES)
        out[rows] = best_action(at[rows], other_at[rows], goal, u)
    return out


def expert(obs: Array, key: Array, t: int) -> Array:
    """Return the ego's best of 100 candidates drawn for (key, t): (N, 4), (N,) int64 → (N, 2)."""
    state, steps = obs.astype(np.float64), np.full(len(obs), t)
    return _search(state[:, :2], state[:, 2:], EGO_GOAL, key, "intersection ego", steps)


# The picture: a top view of [-15, 15]², y up.

SIZE, SPAN = 320, 15.0
GRASS, ROAD = (216, 226, 206), (150, 152, 156)


@cache
def _roads() -> Canvas:
    middle = (SIZE / 2, SIZE / 2)
    canvas = Canvas(SIZE, SIZE, SIZE / (2 * SPAN), origin=middle, color=GRASS, soft=False)
    canvas.area((np.abs(canvas.x) < 3) | (np.abs(canvas.y) < 3), ROAD)
    return canvas


def draw(trail: Array) -> NDArray[np.uint8]:
    """Draw roads, goals as rings, and cars as discs, with dots where they were: (T, 4) → image."""
    canvas = _roads().copy()
    cars = ((EGO_GOAL, ORANGE, slice(0, 2)), (OTHER_GOAL, BLUE, slice(2, 4)))
    for goal, color, columns in cars:
        canvas.ring(goal, 1.0, 0.2, color)
        for at in trail[:-1, columns]:
            canvas.disc(at, 0.2, color)
        canvas.disc(trail[-1, columns], 0.7, color)
    return canvas.picture()


@dataclass(frozen=True)
class Crossing(Dynamics):
    """The state is (ego x, y, other x, y); the action is the ego's displacement."""

    limit_actions: bool = True
    """Scale actions into the unit disc, as for learners at test time; demonstrated actions are
    taken as they are."""

    steps = STEPS
    fps = WORLDS["intersection"].rate
    obs_space = Box(-100.0, 100.0, (4,), np.float32)
    action_space = Box(-1.0, 1.0, (2,), np.float32)
    action_set = "ball"
    obs_names = ("ego_x", "ego_y", "other_x", "other_y")
    action_names = ("ego_dx", "ego_dy")

    def start(self, key: Array) -> Array:
        u = uniform(key, "intersection start", np.zeros_like(key), 4)
        return np.asarray(START_LOW + (START_HIGH - START_LOW) * u)

    def advance(
        self, state: Array, action: Array, key: Array, t: Array
    ) -> tuple[Array, Array, Array]:
        ego_at, other_at = state[:, :2], state[:, 2:]
        if self.limit_actions:
            action = into_disc(action)
        answer = _search(other_at, ego_at, OTHER_GOAL, key, "intersection other", t)
        reward = -cost(ego_at, other_at, EGO_GOAL, action)
        after = np.concatenate([ego_at + action, other_at + answer], axis=1)
        return after, reward, np.zeros(len(state), bool)

    def draw(self, trail: Array) -> NDArray[np.uint8]:
        return draw(trail)


class Intersection(BatchedEnv, dynamics=Crossing):
    """One interaction of 20 steps."""


class IntersectionVector(BatchedVectorEnv, dynamics=Crossing):
    """N interactions."""
