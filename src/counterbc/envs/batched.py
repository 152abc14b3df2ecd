"""What worlds written for N episodes at once share: an environment of one slot, and one of N.

A world is its `Dynamics`; both environments only keep count around it. Episodes are functions of
their keys, so an episode is the same alone and in a batch of any size.
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
from counterbc.errors import OptionError, unknown

Array = NDArray[Any]
AHEAD = 16
"""Episodes drawn ahead per slot: hashing a few keys takes as long as hashing thousands."""


def uniform(key: Array, purpose: str, t: Array, count: int) -> Array:
    """Uniform numbers of the episodes with these keys at their steps: (N,), (N,) → (N, count)."""
    return draws.uniform_rows(key, purpose, t, count)


class Dynamics(ABC):
    """N episodes at once, as functions of their states (N, D), keys (N,) and steps (N,).

    A subclass is a frozen dataclass; its fields are the world's options. To be the same to the bit
    in a batch of any size, it writes sums out per coordinate: reductions and matrix products round
    differently as shapes differ, and so may sines of strided columns.
    """

    steps: ClassVar[int]
    """After how many an episode is truncated."""
    fps: ClassVar[int]
    obs_space: ClassVar[Box]
    action_space: ClassVar[Box]
    action_set: ClassVar[Literal["box", "ball"]] = "box"
    obs_names: ClassVar[tuple[str, ...]]
    action_names: ClassVar[tuple[str, ...]]
    measures: ClassVar[tuple[str, ...]] = ()
    """What is reported in `info` besides the reward."""

    @abstractmethod
    def start(self, key: Array) -> Array:
        """The first states: (N,) int64 → (N, D) float64."""

    @abstractmethod
    def advance(
        self, state: Array, action: Array, key: Array, t: Array
    ) -> tuple[Array, Array, Array]:
        """One step: (N, D), (N, A) → a new state (N, D), rewards (N,), whether it ended (N,)."""

    @abstractmethod
    def draw(self, trail: Array) -> NDArray[np.uint8]:
        """A picture of the last state, after those before it: (T, D) → (H, W, 3)."""

    def observe(self, state: Array) -> Array:
        """What a policy sees: (N, D) → (N, S) float32."""
        return state.astype(np.float32, order="C")

    def measure(self, state: Array) -> dict[str, Array]:
        """The numbers named in `measures`, (N,) each, of the episodes so far."""
        return {}


class Slots:
    """The N episodes behind an environment: their keys, steps, states and trails.

    The first key of a slot comes from its seed; those of later episodes are hashed from the first.
    """

    def __init__(self, dynamics: Dynamics, count: int, render_mode: str | None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise OptionError(f"render_mode is {render_mode!r}; allowed: 'rgb_array', or None")
        self.dynamics = dynamics
        self.first = np.zeros(count, np.int64)  # (N,)
        self.number = np.zeros(count, np.int64)  # (N,), of the next episode
        self.drawn = np.zeros(count, np.int64)  # (N,), the number from which they are drawn ahead
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
        """The next episodes of these slots."""
        number = self.number[slots]
        at = number - self.drawn[slots]
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
        """Keys and first states of this many episodes of every slot, from its next one on."""
        number = self.number + np.arange(count)[:, None]  # (K, N)
        later = draws.bits(torch.from_numpy(self.first), "episode", torch.from_numpy(number), 1)
        self._keys = np.where(number == 0, self.first, later[..., 0].numpy())  # (K, N)
        starts = self.dynamics.start(self._keys.ravel())  # (K · N, D)
        self._starts = starts.reshape(count, len(self.first), -1)
        self.drawn = self.number.copy()

    def advance(self, action: Array) -> tuple[Array, Array]:
        """One step of all episodes: rewards and whether they ended, (N,) each."""
        action = np.asarray(action, np.float64)
        expected = (len(self.state), *self.dynamics.action_space.shape)
        if action.shape != expected:
            raise OptionError(f"actions have shape {action.shape}; expected {expected}")
        self.state, reward, ended = self.dynamics.advance(self.state, action, self.key, self.t)
        self.t += 1
        if self.trails is not None:
            for trail, state in zip(self.trails, self.state, strict=True):
                trail.append(state)
        return reward, ended

    @property
    def obs(self) -> Array:
        return self.dynamics.observe(self.state)  # (N, S)

    @property
    def measured(self) -> dict[str, Array]:
        measured = self.dynamics.measure(self.state)
        return {name: np.array(measured[name], float) for name in self.dynamics.measures}  # (N,)

    def frame(self, slot: int) -> NDArray[np.uint8] | None:
        return None if self.trails is None else self.dynamics.draw(np.array(self.trails[slot]))


class _OfDynamics:
    """What an environment says of itself, from the dynamics that its class is defined with."""

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

    def _slots(self, count: int, render_mode: str | None, options: dict[str, Any]) -> Slots:
        allowed = [f.name for f in fields(self.dynamics)]  # type: ignore[arg-type]  # a dataclass
        if strange := options.keys() - allowed:
            names = ["render_mode", "max_episode_steps", *allowed]
            raise unknown(f"option of {type(self).__name__}", min(strange), names)
        return Slots(self.dynamics(**options), count, render_mode)


class BatchedEnv(_OfDynamics, gymnasium.Env[Array, Array]):
    """One slot. A world's own is `class Name(BatchedEnv, dynamics=…)` with its docstring."""

    def __init__(
        self, render_mode: str | None = None, max_episode_steps: int | None = None, **options: Any
    ) -> None:
        self.observation_space = self.dynamics.obs_space
        self.action_space = self.dynamics.action_space
        self.render_mode = render_mode
        self.max_episode_steps = max_episode_steps or self.dynamics.steps
        self._all = self._slots(1, render_mode, options)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        goes_on = seed is None and self._np_random is not None
        super().reset(seed=seed)
        if not goes_on:
            self._all.seed(np.array([0]), [self.np_random])
        self._all.begin(np.array([0]))
        return self._all.obs[0], self._info()

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        reward, ended = self._all.advance(np.asarray(action)[None])
        # Made by gymnasium, an environment has a spec, and a wrapper that keeps the user's limit.
        over = self.spec is None and bool(self._all.t[0] >= self.max_episode_steps)
        return self._all.obs[0], float(reward[0]), bool(ended[0]), over, self._info()

    def _info(self) -> dict[str, float]:
        return {name: float(value[0]) for name, value in self._all.measured.items()}

    def render(self) -> Any:
        return self._all.frame(0)


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
        self._all = self._slots(num_envs, render_mode, options)
        self._over: Array | None = None  # (N,); before the first reset there are no episodes

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        self._seed(seed)
        self._over = np.zeros(self.num_envs, bool)
        self._all.begin(np.arange(self.num_envs))
        return self._all.obs, self._info()

    def _seed(self, seed: int | Sequence[int | None] | None) -> None:
        if isinstance(seed, (int, np.integer)):
            seed = [int(seed) + i for i in range(self.num_envs)]
        seeds = [None] * self.num_envs if seed is None else list(seed)
        if len(seeds) != self.num_envs:
            raise OptionError(f"{len(seeds)} seeds for {self.num_envs} slots; give one per slot")
        new = [i for i, s in enumerate(seeds) if s is not None or self._over is None]
        if new:
            self._all.seed(np.array(new), [seeding.np_random(seeds[i])[0] for i in new])

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        if self._over is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        again = self._over.nonzero()[0]
        reward, ended = self._all.advance(actions)
        if len(again):
            self._all.begin(again)
            reward[again], ended[again] = 0.0, False
        truncated = self._all.t >= self.max_episode_steps
        self._over = ended | truncated
        return self._all.obs, reward, ended, truncated, self._info()

    def _info(self) -> dict[str, Array]:
        """With gymnasium's masks, which say which slots have a value: here all."""
        measured = self._all.measured
        return measured | {f"_{name}": np.ones(self.num_envs, bool) for name in measured}

    def render(self) -> tuple[Any, ...] | None:
        if self.render_mode is None:
            return None
        return tuple(self._all.frame(i) for i in range(self.num_envs))
