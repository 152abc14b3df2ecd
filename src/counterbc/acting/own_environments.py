"""Environments as users have them: ids, classes, factories and instances; dict observations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv, VectorObservationWrapper

from counterbc.data.arrays import Array
from counterbc.envs import make_vec
from counterbc.errors import CounterBCError

AnyEnv = gymnasium.Env[Any, Any]
MakeEnv = Callable[[int], VectorEnv[Any, Any, Any]]
"""Makes a vector environment of a given number of environments."""
EnvSource = str | type[AnyEnv] | AnyEnv | Callable[[], AnyEnv] | MakeEnv
"""A world or gymnasium id, a class, an instance, a function that makes one, or a `MakeEnv`."""


def environment_name(env: EnvSource) -> str:
    """Return what tables call an environment."""
    if isinstance(env, str):
        return env
    if isinstance(env, gymnasium.Env):
        return env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    return getattr(env, "__name__", "a custom environment")


def environment_maker(env: EnvSource, keys: Sequence[str], **kwargs: Any) -> MakeEnv:
    """Return a function that makes vector environments, whose dict observations become vectors.

    `keys` are the observation keys that the policies read, in order.
    """
    if isinstance(env, str):
        env_id = env
        return lambda n: _flatten(make_vec(env_id, n, **kwargs), keys)
    if isinstance(env, gymnasium.Env):
        lasting = _Lasting(env)
        return lambda n: _flatten(_one_by_one([lambda: lasting] * n), keys)
    if isinstance(env, type) or not _takes_count(env):
        factory: Any = env
        return lambda n: _flatten(_one_by_one([lambda: factory(**kwargs)] * n), keys)
    make: Any = env
    return lambda n: _flatten(make(n), keys)


def runs_alone(env: EnvSource) -> bool:
    """Return whether only one episode can run at a time, as in an instance."""
    return isinstance(env, gymnasium.Env)


def as_vector(obs: Any, keys: Sequence[str]) -> Array:
    """Return an observation; of a dict the parts with these keys, one after the other."""
    if isinstance(obs, Mapping):
        return np.concatenate([np.ravel(obs[key]) for key in keys]).astype(np.float32)
    return np.asarray(obs)


class _Lasting(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment of the user, which stays open."""

    def close(self) -> None:
        pass


def _one_by_one(makers: Sequence[Callable[[], AnyEnv]]) -> VectorEnv[Any, Any, Any]:
    return SyncVectorEnv(makers, autoreset_mode=AutoresetMode.NEXT_STEP)


def _takes_count(function: Callable[..., Any]) -> bool:
    """Return whether a function needs an argument: then it is the number of environments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a builtin says nothing about itself
        return True
    empty = inspect.Parameter.empty
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(p.default is empty and p.kind in positional for p in parameters)


def _flatten(env: VectorEnv[Any, Any, Any], keys: Sequence[str]) -> VectorEnv[Any, Any, Any]:
    """Return the environment with vectors in place of dict observations."""
    if not isinstance(env.single_observation_space, Dict):
        return env
    return _KeysInOrder(env, keys)


class _KeysInOrder(VectorObservationWrapper):
    """The parts of dict observations that the policies read, as one vector."""

    def __init__(self, env: VectorEnv[Any, Any, Any], keys: Sequence[str]) -> None:
        super().__init__(env)
        space = env.single_observation_space
        assert isinstance(space, Dict)
        absent = [key for key in keys if key not in space.spaces]
        if absent or not keys:
            wanted = ", ".join(absent) or "no named observations"
            raise CounterBCError(
                f"the environment observes {', '.join(space.spaces)}, and these policies read "
                f"{wanted}; train with --obs and keys that both have"
            )
        self.keys = tuple(keys)
        width = sum(int(np.prod(space[key].shape or (1,))) for key in keys)
        self.single_observation_space = Box(-np.inf, np.inf, (width,), np.float32)
        self.observation_space = Box(-np.inf, np.inf, (env.num_envs, width), np.float32)

    def observations(self, observations: Any) -> Array:
        rows = [np.asarray(observations[key]).reshape(self.num_envs, -1) for key in self.keys]
        return np.concatenate(rows, axis=1).astype(np.float32)
