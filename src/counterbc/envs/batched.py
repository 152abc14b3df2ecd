"""Environments of worlds that are written for N episodes at once: one slot, or N.

A world is its `Dynamics`; both environments only do the bookkeeping around it. Episodes are
functions of their keys, so an episode is the same alone and in a batch of any size.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
import torch
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from counterbc.data import draws
from counterbc.data.arrays import Array
from counterbc.envs.checks import check_actions, check_render_mode, slot_seeds
from counterbc.errors import unknown

AHEAD = 16
"""Episodes drawn ahead per slot: hashing a few keys takes as long as hashing thousands."""


def uniform(key: Array, purpose: str, t: Array, count: int) -> Array:
    """Draw uniform numbers for episodes and steps: keys (N,), t (N,) → (N, count)."""
    return draws.uniform_rows(key, purpose, t, count)


class Dynamics(ABC):
    """N episodes at once, as functions of their states (N, D), keys (N,) and steps (N,).

    A subclass is a frozen dataclass; its fields are the world's options. To be the same to the bit
    in a batch of any size, it writes sums out per coordinate: reductions and matrix products round
    differently as shapes differ, and so may sines of strided columns.
    """

    steps: ClassVar[int]
    """An episode is truncated after this many steps."""
    fps: ClassVar[int]
    """Frames, that is steps, per second."""
    obs_space: ClassVar[Box]
    action_space: ClassVar[Box]
    action_set: ClassVar[Literal["box", "ball"]] = "box"
    obs_names: ClassVar[tuple[str, ...]]
    action_names: ClassVar[tuple[str, ...]]
    measures: ClassVar[tuple[str, ...]] = ()
    """Numbers reported in `info` besides the reward."""

    @abstractmethod
    def start(self, key: Array) -> Array:
        """Return the first states: (N,) int64 → (N, D) float64."""

    @abstractmethod
    def advance(
        self, state: Array, action: Array, key: Array, t: Array
    ) -> tuple[Array, Array, Array]:
        """Take one step: (N, D), (N, A) → new states (N, D), rewards (N,), terminated (N,)."""

    @abstractmethod
    def draw(self, trail: Array) -> NDArray[np.uint8]:
        """Draw the last state of an episode, and its trail: (T, D) → (H, W, 3)."""

    def observe(self, state: Array) -> Array:
        """Return what a policy sees: (N, D) → (N, S) float32."""
        return state.astype(np.float32, order="C")

    def measure(self, state: Array) -> dict[str, Array]:
        """Return the numbers named in `measures`, (N,) each, of the episodes so far."""
        return {}


class Slots:
    """The N episodes behind an environment: their keys, steps, states and trails.

    The first key of a slot comes from its seed; those of later episodes are hashed from the first.
    """

    def __init__(self, dynamics: Dynamics, count: int, render_mode: str | None) -> None:
        check_render_mode(render_mode)
        self.dynamics = dynamics
        self.first = np.zeros(count, np.int64)  # (N,), the key of each slot's first episode
        self.number = np.zeros(count, np.int64)  # (N,), of the next episode
        self.ahead_from = np.zeros(count, np.int64)  # (N,), the first episode drawn ahead
        self.key = np.zeros(count, np.int64)  # (N,)
        self.t = np.zeros(count, np.int64)  # (N,)
        self.state = np.zeros((count, dynamics.start(self.key[:1]).shape[1]))  # (N, D)
        self.trails: list[list[Array]] | None = None
        if render_mode is not None:
            self.trails = [[] for _ in range(count)]

    def seed(self, slots: Array, generators: Sequence[np.random.Generator]) -> None:
        """Make the next episode of these slots the first of their generators."""
        self.first[slots] = [g.integers(2**63 - 1) for g in generators]
        self.number[slots] = 0
        self._draw_ahead(1)

    def begin(self, slots: Array) -> None:
        """Start the next episode in each of these slots."""
        number = self.number[slots]
        at = number - self.ahead_from[slots]
        if at.max() >= len(self._keys):
            self._draw_ahead(AHEAD)
            at = np.zeros_like(slots)
        self.key[slots] = self._keys[at, slots]
        self.state[slots] = self._starts[at, slots]
        self.number[slots] = number + 1
        self.t[slots] = 0
        if self.trails is not None:
            for i in slots:
                self.trails[i] = [self.state[i].copy()]

    def _draw_ahead(self, count: int) -> None:
        """Draw keys and first states of the next `count` episodes of every slot."""
        number = self.number + np.arange(count)[:, None]  # (K, N)
        later = draws.bits(torch.from_numpy(self.first), "episode", torch.from_numpy(number), 1)
        self._keys = np.where(number == 0, self.first, later[..., 0].numpy())  # (K, N)
        starts = self.dynamics.start(self._keys.ravel())  # (K · N, D)
        self._starts = starts.reshape(count, len(self.first), -1)
        self.ahead_from = self.number.copy()

    def advance(self, action: Array) -> tuple[Array, Array]:
        """Take one step of all episodes and return rewards and terminations, (N,) each."""
        action = check_actions(action, (len(self.state), *self.dynamics.action_space.shape))
        self.state, reward, terminated = self.dynamics.advance(self.state, action, self.key, self.t)
        self.t += 1
        if self.trails is not None:
            for trail, state in zip(self.trails, self.state, strict=True):
                trail.append(state)
        return reward, terminated

    @property
    def obs(self) -> Array:
        """Return what a policy sees: (N, S)."""
        return self.dynamics.observe(self.state)

    @property
    def measures(self) -> dict[str, Array]:
        """Return the world's measures of the episodes so far, (N,) each."""
        values = self.dynamics.measure(self.state)
        return {name: np.array(values[name], float) for name in self.dynamics.measures}

    def frame(self, slot: int) -> NDArray[np.uint8] | None:
        """Return a picture of a slot; None if frames are not rendered."""
        return None if self.trails is None else self.dynamics.draw(np.array(self.trails[slot]))


class _OfDynamics:
    """An environment's description, taken from the dynamics that its class is defined with."""

    dynamics: ClassVar[type[Dynamics]]
    extra_metadata: ClassVar[dict[str, Any]] = {}
    metadata: dict[str, Any]
    action_set: ClassVar[Literal["box", "ball"]]
    obs_names: ClassVar[tuple[str, ...]]
    action_names: ClassVar[tuple[str, ...]]
    measures: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, dynamics: type[Dynamics] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if dynamics is None:
            return
        cls.dynamics, cls.measures = dynamics, dynamics.measures
        cls.obs_names, cls.action_names = dynamics.obs_names, dynamics.action_names
        cls.action_set = dynamics.action_set
        cls.metadata = {"render_modes": ["rgb_array"], "render_fps": dynamics.fps}
        cls.metadata |= cls.extra_metadata

    def _make_slots(self, count: int, render_mode: str | None, options: dict[str, Any]) -> Slots:
        option_names = [f.name for f in fields(self.dynamics)]  # type: ignore[arg-type]  # a dataclass
        if strange := options.keys() - option_names:
            names = ["render_mode", "max_episode_steps", *option_names]
            raise unknown(f"option of {type(self).__name__}", min(strange), names)
        return Slots(self.dynamics(**options), count, render_mode)


class BatchedEnv(_OfDynamics, gymnasium.Env[Array, Array]):
    """One slot. A world defines `class Name(BatchedEnv, dynamics=…)` with a docstring."""

    def __init__(
        self, render_mode: str | None = None, max_episode_steps: int | None = None, **options: Any
    ) -> None:
        self.observation_space = self.dynamics.obs_space
        self.action_space = self.dynamics.action_space
        self.render_mode = render_mode
        self.max_episode_steps = max_episode_steps or self.dynamics.steps
        self._slots = self._make_slots(1, render_mode, options)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        needs_seed = seed is not None or self._np_random is None
        super().reset(seed=seed)
        if needs_seed:
            self._slots.seed(np.array([0]), [self.np_random])
        self._slots.begin(np.array([0]))
        return self._slots.obs[0], self._info()

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        reward, terminated = self._slots.advance(np.asarray(action)[None])
        # Made by gymnasium, an environment has a spec, and a wrapper that keeps the user's limit.
        truncated = self.spec is None and bool(self._slots.t[0] >= self.max_episode_steps)
        return self._slots.obs[0], float(reward[0]), bool(terminated[0]), truncated, self._info()

    def _info(self) -> dict[str, float]:
        return {name: float(value[0]) for name, value in self._slots.measures.items()}

    def render(self) -> Any:
        return self._slots.frame(0)


class BatchedVectorEnv(_OfDynamics, VectorEnv[Array, Array, Array]):
    """N slots; slot i repeats the single environment reset with the slot's seed, to the bit."""

    extra_metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        **options: Any,
    ) -> None:
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.max_episode_steps = max_episode_steps or self.dynamics.steps
        self.single_observation_space = self.dynamics.obs_space
        self.single_action_space = self.dynamics.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._slots = self._make_slots(num_envs, render_mode, options)
        self._over: Array | None = None  # (N,); before the first reset there are no episodes

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        seeds = slot_seeds(seed, self.num_envs)
        new = [i for i, s in enumerate(seeds) if s is not None or self._over is None]
        if new:
            self._slots.seed(np.array(new), [seeding.np_random(seeds[i])[0] for i in new])
        self._over = np.zeros(self.num_envs, bool)
        self._slots.begin(np.arange(self.num_envs))
        return self._slots.obs, self._info()

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        if self._over is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        restart = self._over.nonzero()[0]
        reward, terminated = self._slots.advance(actions)
        if len(restart):
            self._slots.begin(restart)
            reward[restart], terminated[restart] = 0.0, False
        truncated = self._slots.t >= self.max_episode_steps
        self._over = terminated | truncated
        return self._slots.obs, reward, terminated, truncated, self._info()

    def _info(self) -> dict[str, Array]:
        """Return the measures with gymnasium's masks of the slots that have a value: here all."""
        values = self._slots.measures
        return values | {f"_{name}": np.ones(self.num_envs, bool) for name in values}

    def render(self) -> tuple[Any, ...] | None:
        if self.render_mode is None:
            return None
        return tuple(self._slots.frame(i) for i in range(self.num_envs))
