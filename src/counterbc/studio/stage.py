"""One world in which one person, or one policy, acts one episode at a time."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from counterbc.data.affine import scale_exactly, unscale_exactly
from counterbc.data.arrays import Array
from counterbc.data.feasible import feasible_set
from counterbc.envs import find_world, make_vec
from counterbc.errors import unknown

STAGES = ("intersection", "cartpole", "air-hockey", "car-racing", "push-t")
"""The worlds that people can act in, by name; fork and can have no controls for people."""
_LIBRARIES = {"racing": ("envpool", "Box2D"), "pusht": ("gym_pusht",)}


def missing_extra(world: str) -> str | None:
    """Return the extra that must be installed before a world can run, or None."""
    extra = find_world(world).extra
    if extra is None or any(find_spec(library) for library in _LIBRARIES[extra]):
        return None
    return extra


@dataclass(frozen=True)
class Outcome:
    """What one step led to; `obs` is the observation after it."""

    obs: Array
    reward: float
    over: bool
    measures: dict[str, float]


class Stage:
    """A world with one slot; `obs` is what a policy would see now."""

    def __init__(self, world: str, steps: int | None = None, **options: Any) -> None:
        if world not in STAGES:
            raise unknown("world", world, STAGES)
        self.name, self.world = world, find_world(world)
        options |= {} if steps is None else {"max_episode_steps": steps}
        self.env = make_vec(world, 1, **options)
        unwrapped: Any = self.env.unwrapped
        space: Any = unwrapped.single_action_space
        self.low, self.high = space.low.astype(np.float64), space.high.astype(np.float64)  # (A,)
        self.action_set = unwrapped.action_set
        self.action_names, self.obs_names = unwrapped.action_names, unwrapped.obs_names
        self.env_kwargs = dict(getattr(unwrapped, "env_kwargs", {}))
        self.obs: Array = np.zeros(0)

    def begin(self, seed: int) -> Array:
        """Start the episode of a seed and return its first observation."""
        obs, _ = self.env.reset(seed=[seed])  # type: ignore[arg-type]  # lists are taken
        self.obs = np.array(obs[0])
        return self.obs

    def feasible(self, action: Any) -> NDArray[np.float32]:
        """Return the nearest action that the world can take: (A,) → (A,) float32."""
        scaled_action = scale_exactly(np.asarray(action, np.float64), self.low, self.high)
        inside = feasible_set(self.action_set).project(torch.from_numpy(scaled_action)).numpy()
        exact: Array = np.clip(unscale_exactly(inside, self.low, self.high), self.low, self.high)
        return exact.astype(np.float32)

    def neutral(self) -> tuple[float, ...]:
        """Return the action of a device that nobody touches: rest, or stay in place."""
        if self.name == "push-t":
            return tuple(float(x) for x in self.obs[:2])
        return tuple(np.clip(0.0, self.low, self.high).tolist())

    def step(self, action: NDArray[np.float32]) -> Outcome:
        """Take one step."""
        obs, reward, terminated, truncated, info = self.env.step(action[None])
        self.obs = np.array(obs[0])
        values = {k: float(v[0]) for k, v in info.items() if not k.startswith("_")}
        return Outcome(self.obs, float(reward[0]), bool(terminated[0] | truncated[0]), values)

    def description(self) -> dict[str, Any]:
        """Return the facts of a dataset that is recorded here, as JSON values."""
        return {
            "action_low": self.low.tolist(),
            "action_high": self.high.tolist(),
            "action_set": self.action_set,
            "action_names": list(self.action_names),
            "obs_names": list(self.obs_names),
            "env_args": {"env_name": self.world.id, "type": 2, "env_kwargs": self.env_kwargs},
        }

    def close(self) -> None:
        """Free the simulator."""
        self.env.close()
