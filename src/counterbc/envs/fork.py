"""A fork in the road: an obstacle between start and goal, to be passed on either side.

The state is the position, the action a velocity: x ← x + 0.25 · a with a in [−1, 1]². An episode
starts left of the obstacle, near the middle, and ends at the goal (reward 1), at the obstacle
(reward −1) or off the field. The expert draws its side at random once per episode, so at the same
state two different actions are right, and their mean is wrong. Steps are long: straight ahead, the
third step hits the obstacle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from counterbc.data.arrays import Array
from counterbc.envs.batched import BatchedEnv, BatchedVectorEnv, Dynamics, uniform
from counterbc.envs.painting import BLUE, GREY, SNOW, Canvas
from counterbc.envs.registry import WORLDS
from counterbc.errors import OptionError

OBSTACLE, GOAL_RADIUS = 0.35, 0.15  # radii; the obstacle lies at (0, 0)
START, GOAL = -0.8, 1.0  # x of both; y is 0
PACE, SPEED = 0.25, 0.8  # distance per step at full action; the expert's share of it
BEYOND, ASIDE = 0.1, 0.8  # where the expert passes: x and |y|
FIELD = 2.0  # largest |x| and |y|
WIDEST = 0.3  # largest spread of starts


def sides(key: Array) -> Array:
    """Return the expert's side in these episodes, 1 (left, y > 0) or −1: (N,)."""
    u = uniform(key, "fork side", np.zeros_like(key), 1)[:, 0]
    return np.where(u < 0.5, 1.0, -1.0)


def expert(obs: Array, key: Array, t: int) -> Array:
    """Pass the obstacle on one side, then go to the goal: (N, 2) → (N, 2)."""
    x, y = np.ascontiguousarray(obs.T, np.float64)
    ahead = x < 0
    dx = np.where(ahead, BEYOND, GOAL) - x
    dy = np.where(ahead, ASIDE * sides(key), 0.0) - y
    length = np.maximum(np.sqrt(dx * dx + dy * dy), 1e-9)
    return np.stack([SPEED * dx / length, SPEED * dy / length], axis=1)


@dataclass(frozen=True)
class Detour(Dynamics):
    """The state is (x, y, side, hit, arrived); side is 0 until the obstacle is passed."""

    start_spread: float = 0.15
    """Starts have a uniform y within ± this."""

    steps = WORLDS["fork"].steps
    fps = WORLDS["fork"].rate
    obs_space = Box(-2 * FIELD, 2 * FIELD, (2,), np.float32)
    action_space = Box(-1.0, 1.0, (2,), np.float32)
    obs_names = ("x", "y")
    action_names = ("x_dot", "y_dot")
    measures = ("success", "hit", "left")

    def __post_init__(self) -> None:
        if not 0 <= self.start_spread <= WIDEST:
            raise OptionError(f"start_spread is {self.start_spread}; allowed: 0 to {WIDEST:g}")

    def start(self, key: Array) -> Array:
        u = uniform(key, "fork start", np.zeros_like(key), 1)[:, 0]
        state = np.zeros((len(key), 5))
        state[:, 0], state[:, 1] = START, self.start_spread * (2.0 * u - 1.0)
        return state

    def advance(
        self, state: Array, action: Array, key: Array, t: Array
    ) -> tuple[Array, Array, Array]:
        after = state.copy()
        # NaN moves nothing.
        after[:, :2] += PACE * np.clip(np.nan_to_num(action), -1.0, 1.0)
        x, y = after[:, 0], after[:, 1]
        hit = x * x + y * y < OBSTACLE * OBSTACLE
        arrived = (x - GOAL) * (x - GOAL) + y * y < GOAL_RADIUS * GOAL_RADIUS
        passes = (state[:, 2] == 0) & (state[:, 0] < 0) & (x >= 0) & ~hit
        after[:, 2] = np.where(passes, np.where(y > 0, 1.0, -1.0), state[:, 2])
        after[:, 3], after[:, 4] = hit, arrived
        outside = (np.abs(x) > FIELD) | (np.abs(y) > FIELD)
        return after, arrived * 1.0 - hit, hit | arrived | outside

    def observe(self, state: Array) -> Array:
        return state[:, :2].astype(np.float32, order="C")

    def measure(self, state: Array) -> dict[str, Array]:
        """Return whether it arrived, hit the obstacle, and passed left: 0 or 1 each."""
        return {"success": state[:, 4], "hit": state[:, 3], "left": state[:, 2] > 0}

    def draw(self, trail: Array) -> NDArray[np.uint8]:
        return draw(trail)


# The picture: the field from above, x to the right and y up, 120 pixels per unit.

SCALE, WIDTH, HEIGHT = 120, 336, 288
FLAG = (0, 158, 115)


def draw(trail: Array) -> NDArray[np.uint8]:
    """Draw obstacle, goal and agent, and where the agent was: (T, 5) → image."""
    canvas = Canvas(WIDTH, HEIGHT, SCALE, origin=(WIDTH / 2, HEIGHT / 2), color=SNOW)
    canvas.disc((0.0, 0.0), OBSTACLE, GREY)
    canvas.disc((GOAL, 0.0), GOAL_RADIUS, FLAG, 0.6)
    for old in trail[:-1]:
        canvas.disc(old[:2], 0.015, BLUE, 0.5)
    canvas.disc(trail[-1, :2], 0.045, BLUE)
    return canvas.picture()


class Fork(BatchedEnv, dynamics=Detour):
    """One agent."""


class ForkVector(BatchedVectorEnv, dynamics=Detour):
    """N agents."""
