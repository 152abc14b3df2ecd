"""Two cars cross an intersection; the ego car learns, the other one always plays its expert.

Each car pays, at x with the other car at y, goal g and action u,

    cost = (|x + u − g| − |x − g|) + 0.75 · (|x − y| − |x + u − y|)

that is, it wants to come closer to its goal and away from the other car. Both choose at the same
state and move at once. All draws of an episode are functions of the episode's key, so an episode
is the same alone and in a batch of any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
import torch
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from counterbc import draws
from counterbc.envs import WORLDS
from counterbc.errors import OptionError

Array = NDArray[Any]

EGO_GOAL = np.array([10.0, 0.0])
OTHER_GOAL = np.array([0.0, 10.0])
START_LOW = np.array([-10.0, -10.0, -10.0, -10.0])  # ego x, y, other x, y
START_HIGH = np.array([0.0, 10.0, 10.0, 0.0])
CANDIDATES = 100
STEPS = WORLDS["intersection"].steps
CHUNK = 1024
"""Slots searched at a time, so that memory does not grow with 100 candidates per slot."""

OBS_NAMES = ("ego_x", "ego_y", "other_x", "other_y")
ACTION_NAMES = ("ego_dx", "ego_dy")
METADATA: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}
OBS_SPACE = Box(-100.0, 100.0, (4,), np.float32)
ACTION_SPACE = Box(-1.0, 1.0, (2,), np.float32)


# The dynamics, for N interactions at once. Sums and roots are written out per coordinate: unlike
# reductions they round the same whatever the shape.


def distance(a: Array, b: Array) -> Array:
    """|a − b| over the last axis of size 2."""
    dx, dy = a[..., 0] - b[..., 0], a[..., 1] - b[..., 1]
    dx *= dx
    dy *= dy
    dx += dy
    return np.asarray(np.sqrt(dx))


def limited(action: Array) -> Array:
    """Actions scaled into the unit disc where they lie outside it."""
    return action / np.maximum(distance(action, np.zeros(2)), 1.0)[..., None]


def cost(own: Array, other: Array, goal: Array, action: Array) -> Array:
    """What a car at `own` pays for an action: (..., 2) each → (...)."""
    after = own + action
    nearer = distance(after, goal) - distance(own, goal)
    return nearer + 0.75 * (distance(own, other) - distance(after, other))


def best_action(own: Array, other: Array, goal: Array, u: Array) -> Array:
    """The candidate of least cost; u holds uniform numbers in (0, 1): (N, 2, K) → (N, 2)."""
    candidates = limited(np.swapaxes(2.0 * u - 1.0, 1, 2))  # (N, K, 2)
    price = cost(own[:, None], other[:, None], goal, candidates)  # (N, K)
    return np.asarray(candidates[np.arange(len(own)), price.argmin(axis=1)])


def _search(own: Array, other: Array, goal: Array, key: Array, purpose: str, t: Array) -> Array:
    out = np.empty((len(own), 2))
    for i in range(0, len(own), CHUNK):
        part = slice(i, i + CHUNK)
        u = _uniform(key[part], purpose, t[part], 2 * CANDIDATES).reshape(-1, 2, CANDIDATES)
        out[part] = best_action(own[part], other[part], goal, u)
    return out  # (N, 2)


def _uniform(key: Array, purpose: str, t: Array, count: int) -> Array:
    u = draws.uniform(torch.from_numpy(key), purpose, torch.from_numpy(t), count)
    return u.double().numpy()  # (N, count)


def expert(obs: Array, key: Array, t: int) -> Array:
    """The ego's best of 100 candidates drawn for (key, t): (N, 4), (N,) int64 → (N, 2)."""
    state, at = obs.astype(np.float64), np.full(len(obs), t)
    return _search(state[:, :2], state[:, 2:], EGO_GOAL, key, "intersection ego", at)


def start(key: Array) -> Array:
    """The first state of the episodes with these keys: (N,) → (N, 4)."""
    u = _uniform(key, "intersection start", np.zeros_like(key), 4)
    return np.asarray(START_LOW + (START_HIGH - START_LOW) * u)


def advance(state: Array, action: Array, key: Array, t: Array) -> tuple[Array, Array]:
    """One step of both cars: the next state (N, 4) and the ego's reward (N,)."""
    ego, other = state[:, :2], state[:, 2:]
    answer = _search(other, ego, OTHER_GOAL, key, "intersection other", t)
    reward = -cost(ego, other, EGO_GOAL, action)
    return np.concatenate([ego + action, other + answer], axis=1), reward


class _Interactions:
    """The N interactions behind an environment: their keys, steps, states and trails."""

    def __init__(self, count: int, limit_actions: bool, render_mode: str | None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise OptionError(f"render_mode is {render_mode!r}; allowed: 'rgb_array', or None")
        self.limit_actions = limit_actions
        self.key = np.zeros(count, np.int64)  # (N,)
        self.t = np.zeros(count, np.int64)  # (N,)
        self.state = np.zeros((count, 4))  # (N, 4)
        self.trails: list[list[Array]] | None = None
        if render_mode is not None:
            self.trails = [[] for _ in range(count)]

    @property
    def obs(self) -> Array:
        return self.state.astype(np.float32)  # (N, 4)

    def begin(self, slots: Array, generators: Sequence[np.random.Generator]) -> None:
        """New episodes in these slots, one key each from the slot's own generator."""
        self.key[slots] = [generators[i].integers(2**63 - 1) for i in slots]
        self.t[slots] = 0
        self.state[slots] = start(self.key[slots])
        if self.trails is not None:
            for i in slots:
                self.trails[i] = [self.state[i].copy()]

    def advance(self, action: Array) -> Array:
        """Move all cars; the ego's rewards (N,)."""
        action = np.asarray(action, np.float64)
        if action.shape != (len(self.state), 2):
            raise OptionError(f"actions have shape {action.shape}; expected {len(self.state), 2}")
        if self.limit_actions:
            action = limited(action)
        self.state, reward = advance(self.state, action, self.key, self.t)
        self.t += 1
        if self.trails is not None:
            for trail, state in zip(self.trails, self.state, strict=True):
                trail.append(state)
        return reward

    def frame(self, slot: int) -> NDArray[np.uint8] | None:
        return None if self.trails is None else draw(np.array(self.trails[slot]))


class Intersection(gymnasium.Env[Array, Array]):
    """One interaction of 20 steps; the action is the ego's displacement.

    `limit_actions` scales actions into the unit disc before they are taken and paid for, as for
    learners at test time; demonstrated actions are taken as they are.
    """

    metadata = METADATA
    action_set: ClassVar[Literal["box", "ball"]] = "ball"
    obs_names, action_names = OBS_NAMES, ACTION_NAMES

    def __init__(
        self,
        render_mode: str | None = None,
        limit_actions: bool = True,
        max_episode_steps: int = STEPS,
    ) -> None:
        self.observation_space, self.action_space = OBS_SPACE, ACTION_SPACE
        self.render_mode = render_mode
        self.max_episode_steps = max_episode_steps
        self._all = _Interactions(1, limit_actions, render_mode)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self._all.begin(np.array([0]), [self.np_random])
        return self._all.obs[0], {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        reward = self._all.advance(np.asarray(action)[None])
        over = bool(self._all.t[0] >= self.max_episode_steps)
        return self._all.obs[0], float(reward[0]), False, over, {}

    def render(self) -> Any:
        return self._all.frame(0)


class IntersectionVector(VectorEnv[Array, Array, Array]):
    """N interactions; slot i repeats `Intersection` reset with the slot's seed, to the bit."""

    metadata = METADATA | {"autoreset_mode": AutoresetMode.NEXT_STEP}
    action_set: ClassVar[Literal["box", "ball"]] = "ball"
    obs_names, action_names = OBS_NAMES, ACTION_NAMES

    def __init__(
        self,
        num_envs: int = 1,
        render_mode: str | None = None,
        limit_actions: bool = True,
        max_episode_steps: int = STEPS,
    ) -> None:
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.max_episode_steps = max_episode_steps
        self.single_observation_space, self.single_action_space = OBS_SPACE, ACTION_SPACE
        self.observation_space = batch_space(OBS_SPACE, num_envs)
        self.action_space = batch_space(ACTION_SPACE, num_envs)
        self._all = _Interactions(num_envs, limit_actions, render_mode)
        self._generators: list[np.random.Generator] = []
        self._over = np.zeros(num_envs, bool)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        self._seed(seed)
        self._over[:] = False
        self._all.begin(np.arange(self.num_envs), self._generators)
        return self._all.obs, {}

    def _seed(self, seed: int | Sequence[int | None] | None) -> None:
        if isinstance(seed, (int, np.integer)):
            seed = [int(seed) + i for i in range(self.num_envs)]
        seeds = [None] * self.num_envs if seed is None else list(seed)
        if len(seeds) != self.num_envs:
            raise OptionError(f"{len(seeds)} seeds for {self.num_envs} slots; give one per slot")
        keep = bool(self._generators)
        self._generators = [
            self._generators[i] if s is None and keep else seeding.np_random(s)[0]
            for i, s in enumerate(seeds)
        ]

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        if not self._generators:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        again = np.flatnonzero(self._over)
        reward = self._all.advance(actions)
        if len(again):
            self._all.begin(again, self._generators)
            reward[again] = 0.0
        self._over = self._all.t >= self.max_episode_steps
        return self._all.obs, reward, np.zeros(self.num_envs, bool), self._over.copy(), {}

    def render(self) -> tuple[Any, ...] | None:
        if self.render_mode is None:
            return None
        return tuple(self._all.frame(i) for i in range(self.num_envs))


# The picture: a top view of [-15, 15]², y up.

SIZE = 320
SPAN = 15.0
_COORD = (np.arange(SIZE) + 0.5) / SIZE * 2 * SPAN - SPAN
_X, _Y = np.meshgrid(_COORD, -_COORD)  # (SIZE, SIZE) each
GRASS, ROAD, EGO, OTHER = (216, 226, 206), (150, 152, 156), (225, 110, 20), (40, 90, 180)


def _disc(image: Array, at: Array, radius: float, color: Any, hole: float = 0.0) -> None:
    r2 = (_X - at[0]) ** 2 + (_Y - at[1]) ** 2
    image[(r2 <= radius**2) & (r2 >= hole**2)] = color


def draw(trail: Array) -> NDArray[np.uint8]:
    """Roads, goals as rings, where the cars were as dots and are as discs: (T, 4) → an image."""
    image = np.full((SIZE, SIZE, 3), GRASS, np.uint8)
    image[(np.abs(_X) < 3) | (np.abs(_Y) < 3)] = ROAD
    for goal, color, columns in ((EGO_GOAL, EGO, slice(0, 2)), (OTHER_GOAL, OTHER, slice(2, 4))):
        _disc(image, goal, 1.2, color, hole=0.8)
        for at in trail[:-1, columns]:
            _disc(image, at, 0.2, color)
        _disc(image, trail[-1, columns], 0.7, color)
    return image
