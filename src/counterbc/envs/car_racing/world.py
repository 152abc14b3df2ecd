"""Car Racing from pixels: 96×96 frames, and steer, gas and brake; by envpool, or by gymnasium.

Both simulate the same game, but their pixels differ slightly and their tracks entirely, so data of
one are never used with the other: `backend` says which it is. With `speed`, observations are dicts
of the frame and of the speed, which is read from the bar that the frame shows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import batch_space

from counterbc.data.arrays import Array
from counterbc.envs.car_racing.expert import speed as bar_height
from counterbc.envs.checks import check_actions, check_render_mode, slot_seeds
from counterbc.envs.registry import WORLDS
from counterbc.errors import MissingExtra, OptionError, SlowSimulator, unknown

Backend = Literal["envpool", "gymnasium"]
_ID = "CarRacing-v3"
_STEPS, _RATE = WORLDS["car-racing"].steps, WORLDS["car-racing"].rate
_SEEDS = 2**31 - 1  # envpool takes those below
_PER_STEP, _PER_TRACK = -0.1, 1000.0  # rewards
_FEWEST = 200  # tiles of a track; 235 to 345 were seen
_ZOOM = 3


class Tiles:
    """The share of their tracks that N episodes have visited, computed from their rewards.

    Each new one of n tiles earns 1000/n, each step −0.1; the simulators do not report n. A step may
    reach several tiles, so n is the number in the usual range that fits the smallest gain.
    """

    def __init__(self, count: int) -> None:
        self.share = np.zeros(count)  # (N,)
        self.smallest_gain = np.full(count, np.inf)  # (N,), so far

    def begin(self, slots: Array) -> None:
        """Start new episodes in these slots."""
        self.share[slots], self.smallest_gain[slots] = 0.0, np.inf

    def add(self, reward: Array) -> None:
        """Add the rewards (N,) of one step; leaving the field costs 100 and no tiles."""
        gain = np.asarray(reward, np.float64) - _PER_STEP
        gain = np.where(gain > 1, gain, 0.0)
        self.share += gain / _PER_TRACK
        smallest = np.minimum(self.smallest_gain, gain)
        self.smallest_gain = np.where(gain > 0, smallest, self.smallest_gain)

    @property
    def count(self) -> Array:
        """Return the number of tiles visited: (N,)."""
        at_once = _PER_TRACK / self.smallest_gain  # n, or a half or third of it
        times = np.ceil(_FEWEST / np.maximum(at_once, _FEWEST / 3))
        return np.asarray(np.round(self.share * at_once * times))


def _envpool(steps: int, threads: int, seeds: list[int]) -> VectorEnv[Any, Any, Any]:
    import envpool

    with warnings.catch_warnings():  # about the precision of bounds of 0 and 1
        warnings.simplefilter("ignore")
        pool = envpool.make_gymnasium(
            _ID, num_envs=len(seeds), env_seed=seeds, max_episode_steps=steps, num_threads=threads
        )
        _ = pool.observation_space  # created, with its warnings, at first use
    vector_env: Any = pool  # a VectorEnv to all but a type checker
    return vector_env  # type: ignore[no-any-return]


def _gymnasium(steps: int, threads: int, seeds: list[int]) -> VectorEnv[Any, Any, Any]:
    make = partial(gymnasium.make, _ID, max_episode_steps=steps)
    return SyncVectorEnv([make] * len(seeds))


BACKENDS: dict[str, Callable[[int, int, list[int]], VectorEnv[Any, Any, Any]]] = {
    "envpool": _envpool,
    "gymnasium": _gymnasium,
}


def find_backend(name: str | None) -> str:
    """Return the backend of this name; by default envpool, or gymnasium where that is missing."""
    specs = {"envpool": find_spec("envpool"), "gymnasium": find_spec("Box2D")}
    if name is not None and name not in BACKENDS:
        raise unknown("backend", name, BACKENDS)
    backend = name or next((n for n, spec in specs.items() if spec is not None), "envpool")
    if specs[backend] is None:
        if backend == "envpool":
            raise MissingExtra("envpool", "racing", "the world car-racing")
        raise OptionError(
            "car-racing by gymnasium needs Box2D, which is not installed; install it with: "
            "pip install 'gymnasium[box2d]'"
        )
    if name is None and backend == "gymnasium":
        text = "car-racing runs by gymnasium, at a ninth of envpool's speed: envpool is missing"
        warnings.warn(text, SlowSimulator, stacklevel=2)
    return backend


class CarRacingVector(VectorEnv[Any, Array, Array]):
    """N cars on N tracks. A slot's track depends on its seed alone.

    Rewards are the game's: 1000/n for each of n tiles, −0.1 for each step. `tiles` is the number of
    tiles visited, the paper's distance travelled; `lap` is the same as a share of the track.
    """

    metadata = {  # noqa: RUF012  # as gymnasium declares it
        "render_modes": ["rgb_array"],
        "render_fps": _RATE,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }
    action_set: ClassVar[Literal["box", "ball"]] = "box"
    action_names: ClassVar[tuple[str, ...]] = ("steer", "gas", "brake")
    measures: ClassVar[tuple[str, ...]] = ("tiles", "lap")
    slots: ClassVar[int] = 256
    """Number of episodes worth running at once: each holds a simulation."""

    def __init__(
        self,
        num_envs: int = 1,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        backend: Backend | None = None,
        threads: int = 0,
        speed: bool = False,
    ) -> None:
        """`threads` are envpool's; 0: one per core. With `speed`, observations are dicts."""
        check_render_mode(render_mode)
        self.num_envs, self.render_mode = num_envs, render_mode
        self.backend = find_backend(backend)
        self.max_episode_steps = max_episode_steps or _STEPS
        self._make = partial(BACKENDS[self.backend], self.max_episode_steps, threads)
        self.has_speed = speed
        frame = Box(0, 255, (96, 96, 3), np.uint8)
        bar = Box(0, np.inf, (1,), np.float32)
        self.single_observation_space = Dict(image=frame, speed=bar) if speed else frame
        low, high = np.array([-1, 0, 0], np.float32), np.ones(3, np.float32)
        self.single_action_space = Box(low, high)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._pool: VectorEnv[Any, Any, Any] | None = None
        self._frames: Array | None = None  # (N, 96, 96, 3)

    @property
    def env_kwargs(self) -> dict[str, Any]:
        """Return the options that data recorded here must be used with."""
        return {"backend": self.backend} | ({"speed": True} if self.has_speed else {})

    @property
    def obs_names(self) -> tuple[str, ...]:
        """Return the names of the numbers beside the frame."""
        return ("speed",) if self.has_speed else ()

    def _obs(self) -> Any:
        """Return the frames, or a dict with the speeds (N, 1), in pixels of the bar."""
        assert self._frames is not None
        if not self.has_speed:
            return self._frames
        return {"image": self._frames, "speed": bar_height(self._frames)[:, None].astype("f4")}

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start all episodes; seeds make new simulators, since envpool takes seeds only then."""
        if seed is not None or self._pool is None:
            self.close_extras()
            seeds = self._seeds(seed)
            self._pool = self._make(seeds)
            kwargs = {"seed": seeds} if self.backend == "gymnasium" else {}
            obs, _ = self._pool.reset(**kwargs)  # type: ignore[arg-type]  # lists are taken
        else:
            obs, _ = self._pool.reset()
        self._tiles = Tiles(self.num_envs)
        self._over = np.zeros(self.num_envs, bool)
        self._frames = np.asarray(obs)
        return self._obs(), self._info()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int]:
        rng = seeding.np_random(None)[0]
        seeds = slot_seeds(seed, self.num_envs)
        return [(int(rng.integers(_SEEDS)) if s is None else int(s)) % _SEEDS for s in seeds]

    def step(self, actions: Array) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        if self._pool is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        low, high = self.action_space.low, self.action_space.high  # type: ignore[attr-defined]
        action = np.clip(check_actions(actions, low.shape), low, high).astype(np.float32)
        obs, reward, terminated, truncated, _ = self._pool.step(action)
        reward = np.where(self._over, 0.0, reward)  # these slots started a new episode instead
        self._tiles.begin(self._over)
        self._tiles.add(np.where(self._over, _PER_STEP, reward))
        self._over = np.asarray(terminated | truncated)
        self._frames = np.asarray(obs)
        return self._obs(), reward, np.asarray(terminated), np.asarray(truncated), self._info()

    def _info(self) -> dict[str, Array]:
        """Return the measures with gymnasium's masks of the slots that have a value: here all."""
        mask = np.ones(self.num_envs, bool)
        values = {"tiles": self._tiles.count, "lap": self._tiles.share.copy()}
        return values | {f"_{name}": mask for name in values}

    def render(self) -> tuple[Any, ...] | None:
        """Return the frames that the policy sees, enlarged."""
        if self.render_mode is None or self._frames is None:
            return None
        return tuple(np.kron(f, np.ones((_ZOOM, _ZOOM, 1), np.uint8)) for f in self._frames)

    def close_extras(self, **kwargs: Any) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None


class CarRacing(gymnasium.Env[Any, Array]):
    """One car: one slot of `CarRacingVector`."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": _RATE}  # noqa: RUF012
    measures: ClassVar[tuple[str, ...]] = CarRacingVector.measures

    def __init__(
        self,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        backend: Backend | None = None,
        speed: bool = False,
    ) -> None:
        self._vector = CarRacingVector(1, render_mode, max_episode_steps, backend, speed=speed)
        self.observation_space = self._vector.single_observation_space
        self.action_space = self._vector.single_action_space
        self.render_mode = render_mode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        start = int(self.np_random.integers(_SEEDS)) if seed is None else seed
        obs, info = self._vector.reset(seed=[start])
        return _only(obs), _first(info)

    def step(self, action: Array) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self._vector.step(np.asarray(action)[None])
        return _only(obs), float(reward[0]), bool(terminated[0]), bool(truncated[0]), _first(info)

    def render(self) -> Any:
        frames = self._vector.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        self._vector.close()


def _only(obs: Any) -> Any:
    """Return the observation of the only slot."""
    return {name: x[0] for name, x in obs.items()} if isinstance(obs, dict) else obs[0]


def _first(info: dict[str, Array]) -> dict[str, float]:
    return {name: float(info[name][0]) for name in CarRacingVector.measures}
