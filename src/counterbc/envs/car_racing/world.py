"""Car Racing from pixels: 96×96 frames, and steer, gas and brake; by envpool, or by gymnasium.

Both simulate the same game, but their pixels differ a little and their tracks altogether, so data
of the one are never used with the other: `backend` says which it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from counterbc.envs.registry import WORLDS
from counterbc.errors import MissingExtra, OptionError, SlowSimulator, unknown

Array = NDArray[Any]
Backend = Literal["envpool", "gymnasium"]
_ID = "CarRacing-v3"
_STEPS, _RATE = WORLDS["car-racing"].steps, WORLDS["car-racing"].rate
_SEEDS = 2**31 - 1  # envpool takes those below
_PER_STEP, _PER_TRACK = -0.1, 1000.0  # rewards
_FEWEST = 200  # tiles of a track; 235 to 345 were seen
_ENLARGED = 3


class Tiles:
    """How much of their tracks N episodes have visited, found out from their rewards.

    Of n tiles each new one earns 1000/n, each step −0.1; neither simulator need say what n is. A
    step may reach several tiles, so n is the one in the usual range that the least gain allows.
    """

    def __init__(self, count: int) -> None:
        self.share = np.zeros(count)  # (N,)
        self.least = np.full(count, np.inf)  # (N,): the smallest gain so far

    def begin(self, slots: Array) -> None:
        """New episodes in these slots."""
        self.share[slots], self.least[slots] = 0.0, np.inf

    def add(self, reward: Array) -> None:
        """The rewards (N,) of one step; leaving the field costs 100 and no tiles."""
        gain = np.asarray(reward, np.float64) - _PER_STEP
        gain = np.where(gain > 1, gain, 0.0)
        self.share += gain / _PER_TRACK
        self.least = np.where(gain > 0, np.minimum(self.least, gain), self.least)

    @property
    def count(self) -> Array:
        """Tiles visited: (N,)."""
        at_once = _PER_TRACK / self.least  # n, or a half or third of it
        times = np.ceil(_FEWEST / np.maximum(at_once, _FEWEST / 3))
        return np.asarray(np.round(self.share * at_once * times))


def _envpool(steps: int, threads: int, seeds: list[int]) -> VectorEnv[Any, Any, Any]:
    import envpool

    with warnings.catch_warnings():  # about the precision of bounds of 0 and 1
        warnings.simplefilter("ignore")
        pool = envpool.make_gymnasium(
            _ID, num_envs=len(seeds), env_seed=seeds, max_episode_steps=steps, num_threads=threads
        )
        _ = pool.observation_space  # made, with its warnings, when first asked for
    made: Any = pool  # a VectorEnv to all but a type checker
    return made  # type: ignore[no-any-return]


def _gymnasium(steps: int, threads: int, seeds: list[int]) -> VectorEnv[Any, Any, Any]:
    one = partial(gymnasium.make, _ID, max_episode_steps=steps)
    return SyncVectorEnv([one] * len(seeds))


BACKENDS: dict[str, Callable[[int, int, list[int]], VectorEnv[Any, Any, Any]]] = {
    "envpool": _envpool,
    "gymnasium": _gymnasium,
}


def find_backend(name: str | None) -> str:
    """The one asked for; else envpool, or gymnasium's own game where there is no envpool."""
    there = {"envpool": find_spec("envpool"), "gymnasium": find_spec("Box2D")}
    if name is not None and name not in BACKENDS:
        raise unknown("backend", name, BACKENDS)
    chosen = name or next((n for n, spec in there.items() if spec is not None), "envpool")
    if there[chosen] is None:
        if chosen == "envpool":
            raise MissingExtra("envpool", "racing", "the world car-racing")
        raise OptionError(
            "car-racing by gymnasium needs Box2D, which is not installed; install it with: "
            "pip install 'gymnasium[box2d]'"
        )
    if name is None and chosen == "gymnasium":
        text = "car-racing runs by gymnasium, at a ninth of envpool's speed, as envpool is missing"
        warnings.warn(text, SlowSimulator, stacklevel=2)
    return chosen


class CarRacingVector(VectorEnv[Array, Array, Array]):
    """N cars on N tracks. A slot's seed fixes its track, whatever the other slots are.

    Rewards are the game's: 1000/n for each of n tiles, −0.1 for each step. `tiles` counts those
    visited, the paper's distance travelled; `lap` is the same as a share of the track.
    """

    metadata = {  # noqa: RUF012  # as gymnasium declares it
        "render_modes": ["rgb_array"],
        "render_fps": _RATE,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }
    action_set: ClassVar[Literal["box", "ball"]] = "box"
    obs_names: ClassVar[tuple[str, ...]] = ()
    action_names: ClassVar[tuple[str, ...]] = ("steer", "gas", "brake")
    measures: ClassVar[tuple[str, ...]] = ("tiles", "lap")
    slots: ClassVar[int] = 256
    """How many are worth running at once: each holds a simulation."""

    def __init__(
        self,
        num_envs: int = 1,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        backend: Backend | None = None,
        threads: int = 0,
    ) -> None:
        """`threads` of envpool; 0: one per core."""
        if render_mode not in (None, "rgb_array"):
            raise OptionError(f"render_mode is {render_mode!r}; allowed: 'rgb_array', or None")
        self.num_envs, self.render_mode = num_envs, render_mode
        self.backend = find_backend(backend)
        self.max_episode_steps = max_episode_steps or _STEPS
        self._make = partial(BACKENDS[self.backend], self.max_episode_steps, threads)
        self.single_observation_space = Box(0, 255, (96, 96, 3), np.uint8)
        low, high = np.array([-1, 0, 0], np.float32), np.ones(3, np.float32)
        self.single_action_space = Box(low, high)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._pool: VectorEnv[Any, Any, Any] | None = None
        self._frames: Array | None = None  # (N, 96, 96, 3)

    @property
    def env_kwargs(self) -> dict[str, Any]:
        """What data recorded here must be used with."""
        return {"backend": self.backend}

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """With seeds the simulators are made anew, since envpool takes seeds only then."""
        if seed is not None or self._pool is None:
            self.close_extras()
            seeds = self._seeds(seed)
            self._pool = self._make(seeds)
            own = {"seed": seeds} if self.backend == "gymnasium" else {}
            obs, _ = self._pool.reset(**own)  # type: ignore[arg-type]  # lists are taken
        else:
            obs, _ = self._pool.reset()
        self._tiles = Tiles(self.num_envs)
        self._over = np.zeros(self.num_envs, bool)
        self._frames = np.asarray(obs)
        return self._frames, self._info()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int]:
        if isinstance(seed, (int, np.integer)):
            seed = [int(seed) + i for i in range(self.num_envs)]
        seeds = [None] * self.num_envs if seed is None else list(seed)
        if len(seeds) != self.num_envs:
            raise OptionError(f"{len(seeds)} seeds for {self.num_envs} slots; give one per slot")
        chance = seeding.np_random(None)[0]
        return [(int(chance.integers(_SEEDS)) if s is None else int(s)) % _SEEDS for s in seeds]

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        if self._pool is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        low, high = self.action_space.low, self.action_space.high  # type: ignore[attr-defined]
        if np.shape(actions) != low.shape:
            raise OptionError(f"actions have shape {np.shape(actions)}; expected {low.shape}")
        limited = np.clip(actions, low, high).astype(np.float32)
        obs, reward, terminated, truncated, _ = self._pool.step(limited)
        reward = np.where(self._over, 0.0, reward)  # these slots began anew instead
        self._tiles.begin(self._over)
        self._tiles.add(np.where(self._over, _PER_STEP, reward))
        self._over = np.asarray(terminated | truncated)
        self._frames = np.asarray(obs)
        return self._frames, reward, np.asarray(terminated), np.asarray(truncated), self._info()

    def _info(self) -> dict[str, Array]:
        """With gymnasium's masks, which say which slots have a value: here all."""
        known = np.ones(self.num_envs, bool)
        measured = {"tiles": self._tiles.count, "lap": self._tiles.share.copy()}
        return measured | {f"_{name}": known for name in measured}

    def render(self) -> tuple[Any, ...] | None:
        """The frames that the policy sees, enlarged."""
        if self.render_mode is None or self._frames is None:
            return None
        return tuple(np.kron(f, np.ones((_ENLARGED, _ENLARGED, 1), np.uint8)) for f in self._frames)

    def close_extras(self, **kwargs: Any) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None


class CarRacing(gymnasium.Env[Array, Array]):
    """One car: one slot of `CarRacingVector`."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": _RATE}  # noqa: RUF012
    measures: ClassVar[tuple[str, ...]] = CarRacingVector.measures

    def __init__(
        self,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        backend: Backend | None = None,
    ) -> None:
        self._one = CarRacingVector(1, render_mode, max_episode_steps, backend)
        self.observation_space = self._one.single_observation_space
        self.action_space = self._one.single_action_space
        self.render_mode = render_mode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        start = int(self.np_random.integers(_SEEDS)) if seed is None else seed
        obs, info = self._one.reset(seed=[start])
        return obs[0], _first(info)

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self._one.step(np.asarray(action)[None])
        return obs[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), _first(info)

    def render(self) -> Any:
        frames = self._one.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        self._one.close()


def _first(info: dict[str, Array]) -> dict[str, float]:
    return {name: float(info[name][0]) for name in CarRacingVector.measures}
