"""Environments as users have them: ids, classes, factories and instances; dict observations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv, VectorObservationWrapper
from gymnasium.vector.utils import batch_space

from counterbc.acting.observations import Observed, find_key, part_widths, spellings
from counterbc.data.arrays import Array
from counterbc.data.names import shape_text
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


def environment_maker(env: EnvSource, observed: Observed, **kwargs: Any) -> MakeEnv:
    """Return a function that makes vector environments, whose dict observations become rows.

    `observed` are the parts of an observation that the policies read.
    """
    if isinstance(env, str):
        env_id = env
        return lambda n: flatten(make_vec(env_id, n, **kwargs), observed)
    if isinstance(env, gymnasium.Env):
        lasting = _Lasting(env)
        return lambda n: flatten(_one_by_one([lambda: lasting] * n), observed)
    if isinstance(env, type) or not _takes_count(env):
        factory: Any = env
        return lambda n: flatten(_one_by_one([lambda: factory(**kwargs)] * n), observed)
    make: Any = env
    return lambda n: flatten(make(n), observed)


def runs_alone(env: EnvSource) -> bool:
    """Return whether only one episode can run at a time, as in an instance."""
    return isinstance(env, gymnasium.Env)


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


def flatten(env: VectorEnv[Any, Any, Any], observed: Observed) -> VectorEnv[Any, Any, Any]:
    """Return the environment with rows in place of dict observations, and with images resized.

    One that lacks what is read is closed and refused.
    """
    is_camera = observed.is_resized and not observed.is_mixed
    if not isinstance(env.single_observation_space, Dict) and not is_camera:
        return env
    try:
        return PartsInOrder(env, observed)
    except CounterBCError:
        env.close()
        raise


class PartsInOrder(VectorObservationWrapper):
    """The parts of dict observations that the policies read, as vectors or as rows of bytes."""

    widths: Mapping[str, int | None]
    """How many numbers of the environment each name of the training's vector stands for."""

    def __init__(self, env: VectorEnv[Any, Any, Any], observed: Observed) -> None:
        super().__init__(env)
        space = env.single_observation_space
        self._camera = "" if isinstance(space, Dict) else observed.cameras[0]  # of a single image
        parts = space if isinstance(space, Dict) else Dict({self._camera: space})
        self.widths = self._check(parts, observed)
        self.observed = observed
        shape, dtype = observed.shape, np.uint8 if observed.images else np.float32
        low, high = (0, 255) if observed.images else (-np.inf, np.inf)
        self.single_observation_space = Box(low, high, shape, dtype)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def _check(self, space: Dict, observed: Observed) -> Mapping[str, int | None]:
        shapes = {key: part.shape for key, part in space.items() if part.shape is not None}
        keys = observed.keys if observed.size else ()
        widths = part_widths(keys, shapes)
        absent = [name for name in observed.cameras if not set(spellings(name)) & set(shapes)]
        absent += [name for name, width in widths.items() if width is None]
        if absent or not (keys or observed.cameras):
            advice = _advice(shapes, widths, observed)
            raise CounterBCError(
                f"the environment observes {', '.join(space.spaces)}, and the training reads "
                f"{', '.join(absent) or 'no named observations'}; {advice}"
            )
        size = sum(width for width in widths.values() if width is not None)
        if size != observed.size:
            raise CounterBCError(
                f"{' and '.join(keys)} are {size} numbers in the environment and {observed.size} "
                "in the training; train or compare with --obs and keys of the same size"
            )
        for name, shape in zip(observed.cameras, observed.images, strict=True):
            part = space[find_key(name, space.spaces)]
            image_shape = part.shape or ()
            is_resizable = observed.is_resized and image_shape[2:] == shape[2:]
            fits = image_shape == shape or (is_resizable and len(image_shape) == 3)
            if not fits or part.dtype != np.uint8:
                raise CounterBCError(
                    f"the environment observes {name} as {part}; the training reads images of "
                    f"{shape_text(shape)} in uint8"
                )
        return widths

    def observations(self, observations: Any) -> Array:
        parts = {self._camera: observations} if self._camera else observations
        rows = {name: np.asarray(values) for name, values in parts.items()}
        return self.observed.rows(
            {n: x[:, None] if x.ndim == 1 else x for n, x in rows.items()}
        ).reshape(self.num_envs, *self.observed.shape)


def _advice(
    shapes: Mapping[str, tuple[int, ...]], widths: Mapping[str, int | None], observed: Observed
) -> str:
    """Return which observations to choose, where an environment lacks some of the training."""
    names = [n for n in observed.cameras if set(spellings(n)) & set(shapes)]
    names += [name for name, width in widths.items() if width is not None]
    if names:
        return f"train or compare with those that both have: --obs {' '.join(names)}"
    text = "train or compare with --obs and keys that both have"
    key = next((key for key, shape in shapes.items() if len(shape) == 1), None)
    if key is None:
        return text
    return f"{text}; of a table, columns named {key}_0, {key}_1, … are the numbers of {key}"
