"""A pole balanced on a cart: gymnasium's CartPole with a continuous force.

    temp  = (F + m l θ̇² sin θ) / M
    θ̈     = (g sin θ − cos θ · temp) / (l (4/3 − m cos² θ / M))
    ẍ     = temp − m l θ̈ cos θ / M

with the pole's mass m and half its length l, the mass M of both, and the force F = 10 · a for an
action a in [−1, 1]; the old velocities move the old positions (Euler). An episode ends when the
pole leans more than 12° or the cart leaves ±2.4, so the return is the number of steps survived.

From gentle starts the expert never falls, not even with noise of σ = 0.5: errors of mean zero are
corrected before they add up. So the 26.6 steps of the paper's synthetic demonstrations cannot come
from the noise alone with this expert. Starts within ±4 in each coordinate give 26.5 ± 0.3 steps
(`reproduction/studies/worlds.py`): nine in ten are lost for the expert too, most others run to the
end. These starts make the world `cartpole-hard`. The teacher `crowd`, whose operators react as late
as people, lasts 28.5 steps from gentle starts and stands in for the paper's people, who lasted
30.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from counterbc.data.arrays import Array
from counterbc.envs.batched import BatchedEnv, BatchedVectorEnv, Dynamics, uniform
from counterbc.envs.painting import BLUE, GREY, ORANGE, SNOW, Canvas
from counterbc.envs.registry import WORLDS
from counterbc.errors import OptionError

GRAVITY, POLE_MASS, MASS, HALF_LENGTH = 9.8, 0.1, 1.1, 0.5
SHARE = POLE_MASS / MASS
FORCE = 10.0
DT = 0.02
X_LIMIT, THETA_LIMIT = 2.4, 12 * 2 * math.pi / 360
LIMITS = np.array([X_LIMIT, np.inf, THETA_LIMIT, np.inf])
WIDEST = 50.0  # largest spread of starts
HIGHEST = np.array([4.8, 100.0, math.pi, 100.0], np.float32)  # beyond all states of an episode

# The discrete LQR of this world, linearized upright, for Q = diag(1, 0.1, 10, 0.1) and R = 0.1
# on the action; a test solves the Riccati equation.
GAIN = (2.3903347390, 2.7752612732, 15.4234144267, 3.5713242352)


def expert(obs: Array, key: Array, t: int) -> Array:
    """Return the feedback a* = K s, clipped to [−1, 1]: (N, 4) → (N, 1)."""
    x, x_dot, theta, theta_dot = np.ascontiguousarray(obs.T, np.float64)
    a = GAIN[0] * x + GAIN[1] * x_dot + GAIN[2] * theta + GAIN[3] * theta_dot
    return np.asarray(np.clip(a, -1.0, 1.0)[:, None])


def accelerations(theta: Array, theta_dot: Array, force: Array) -> tuple[Array, Array]:
    """Return the accelerations of cart and pole: (N,) each → ẍ, θ̈."""
    sin, cos = np.sin(theta), np.cos(theta)
    temp = force / MASS + SHARE * HALF_LENGTH * theta_dot * theta_dot * sin
    inertia = 4.0 / 3.0 * HALF_LENGTH - SHARE * HALF_LENGTH * cos * cos
    pole = (GRAVITY * sin - cos * temp) / inertia
    return temp - SHARE * HALF_LENGTH * pole * cos, pole


# The picture: the track from the side, x to the right and y up, 100 pixels per unit.

SCALE, WIDTH, HEIGHT = 100, 544, 192
TRACK_ROW = HEIGHT - 36  # y = 0
GROUND, LIMIT, AXLE = (216, 220, 224), (205, 90, 70), (250, 250, 250)
AXLE_HEIGHT = 0.26


def _tip(state: Array, length: float = 2 * HALF_LENGTH) -> tuple[float, float]:
    """Return the point of the pole at this distance from the axle."""
    return state[0] + length * math.sin(state[2]), AXLE_HEIGHT + length * math.cos(state[2])


def _track(x: float) -> Canvas:
    """Draw the ground, the posts at ±2.4, and the 12° either way of a cart at x."""
    canvas = Canvas(WIDTH, HEIGHT, SCALE, origin=(WIDTH / 2, TRACK_ROW), color=SNOW)
    canvas.area(-canvas.y, GROUND)
    canvas.area(0.012 - np.abs(canvas.y), GREY)
    for side in (-1.0, 1.0):
        canvas.bar((side * X_LIMIT, 0.0), (side * X_LIMIT, 0.22), 0.02, LIMIT)
        lean = np.array([x, 0.0, side * THETA_LIMIT, 0.0])
        canvas.bar(_tip(lean, 0.3), _tip(lean, 1.1), 0.006, LIMIT, 0.45)
    return canvas


def draw(trail: Array) -> NDArray[np.uint8]:
    """Draw track, cart and pole, and where the pole's tip was lately: (T, 4) → image."""
    state = trail[-1]
    x = float(state[0])
    canvas = _track(x)
    recent = trail[-25:-1:4]
    for i, old in enumerate(recent):
        canvas.disc(_tip(old), 0.02, ORANGE, 0.5 * (i + 1) / len(recent))
    canvas.bar((x - 0.2, 0.2), (x + 0.2, 0.2), 0.09, BLUE)
    for wheel in (x - 0.17, x + 0.17):
        canvas.disc((wheel, 0.07), 0.07, GREY)
    canvas.bar(_tip(state, 0.0), _tip(state), 0.04, ORANGE)
    canvas.disc((x, AXLE_HEIGHT), 0.02, AXLE)
    return canvas.picture()


@dataclass(frozen=True)
class Balancing(Dynamics):
    """The state is (x, ẋ, θ, θ̇); the action pushes the cart."""

    start_spread: float = 0.05
    """Starts are uniform within ± this in each coordinate, and within the limits of an episode."""

    steps = WORLDS["cartpole"].steps
    fps = WORLDS["cartpole"].rate
    obs_space = Box(-HIGHEST, HIGHEST, dtype=np.float32)
    action_space = Box(-1.0, 1.0, (1,), np.float32)
    obs_names = ("x", "x_dot", "theta", "theta_dot")
    action_names = ("push",)

    def __post_init__(self) -> None:
        if not 0 <= self.start_spread <= WIDEST:
            raise OptionError(f"start_spread is {self.start_spread}; allowed: 0 to {WIDEST:g}")

    def start(self, key: Array) -> Array:
        u = uniform(key, "cartpole start", np.zeros_like(key), 4)
        return np.asarray((2.0 * u - 1.0) * np.minimum(self.start_spread, LIMITS))

    def advance(
        self, state: Array, action: Array, key: Array, t: Array
    ) -> tuple[Array, Array, Array]:
        before = np.ascontiguousarray(state.T)  # (4, N)
        after = np.empty_like(before)  # (4, N), the rates of change at first
        force = FORCE * np.minimum(np.maximum(action[:, 0], -1.0), 1.0)
        after[0], after[2] = before[1], before[3]
        after[1], after[3] = accelerations(before[2], before[3], force)
        after *= DT
        after += before
        inside = np.abs(after[::2]) <= LIMITS[::2, None]  # (2, N); NaN is not inside
        return after.T, np.ones(len(state)), ~(inside[0] & inside[1])

    def draw(self, trail: Array) -> NDArray[np.uint8]:
        return draw(trail)


class Cartpole(BatchedEnv, dynamics=Balancing):
    """One pole."""


class CartpoleVector(BatchedVectorEnv, dynamics=Balancing):
    """N poles."""
