"""Whether an environment has the observations and actions of a training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
from gymnasium.vector import VectorEnv

from counterbc.acting.observations import Observed
from counterbc.acting.own_environments import PartsInOrder, flatten
from counterbc.acting.policies import Policies
from counterbc.acting.run_config import key_of, keys_of
from counterbc.data.demonstrations import Demonstrations
from counterbc.envs import WORLDS, find_id, make_and_close, make_vec
from counterbc.errors import CounterBCError, OptionError


@dataclass(frozen=True, kw_only=True)
class Spaces:
    """What policies read and give, to compare with what an environment has."""

    observed: Observed
    obs_shape: tuple[int, ...]
    action_size: int
    obs_names: Sequence[str]
    env: str | None
    """The environment of the demonstrations, if recorded."""
    backend: str | None
    """Its simulator, where there are several."""

    @staticmethod
    def of_policies(policies: Policies) -> Spaces:
        config = policies.run_config
        return Spaces(
            observed=policies.observed,
            obs_shape=policies.obs_shape,
            action_size=policies.action_size,
            obs_names=config.obs_names,
            env=config.env,
            backend=config.backend,
        )

    @staticmethod
    def of_data(demos: Demonstrations) -> Spaces:
        """Return what policies that learn from demonstrations will read and give."""
        is_image = len(demos.obs_shape) > 1
        observed = Observed(
            tuple(key for key, _ in demos.obs_keys),
            0 if is_image else demos.obs_shape[0],
            tuple(demos.cameras),
            tuple(demos.cameras.values()),
            bool(demos.image_size),
        )
        return Spaces(
            observed=observed,
            obs_shape=demos.obs_shape,
            action_size=demos.action_size,
            obs_names=demos.obs_names,
            env=demos.env,
            backend=demos.backend,
        )

    def check(self, env: VectorEnv[Any, Any, Any], name: str) -> None:
        """Refuse an environment whose observations or actions have another shape."""
        observed = self.observed
        if isinstance(env, PartsInOrder):
            self._check_widths(env.widths)
        for noun, space, shape in (
            ("observations", env.single_observation_space, observed.shape or self.obs_shape),
            ("actions", env.single_action_space, (self.action_size,)),
        ):
            if isinstance(space, gymnasium.spaces.Box) and space.shape == shape:
                continue
            size = "×".join(map(str, shape))
            expected = f"vectors of {size} numbers" if len(shape) == 1 else f"images of {size}"
            keys = list[str]()
            if noun == "observations":
                expected = observed.text if observed.is_mixed else expected
                keys = _fitting_keys(self.obs_names, space)
            advice = ""
            if len(keys) == 1:
                advice = f"; train or compare with --obs {keys[0]}, which fits"
            raise CounterBCError(
                f"the {noun} of {name} are {space}; the training has {expected}{advice}"
            )

    def _check_widths(self, widths: Mapping[str, int | None]) -> None:
        """Refuse parts of other widths, of which all together have as many numbers."""
        if keys_of(self.obs_names) != self.observed.keys:
            return  # the names do not show the parts
        trained = Counter(map(key_of, self.obs_names))
        for name, width in widths.items():
            if width != trained[name]:
                raise CounterBCError(
                    f"{name} has {width} numbers in the environment and {trained[name]} in the "
                    "training; train or compare with --obs and keys of the same size"
                )


def reason_not_tested(env: str, spaces: Spaces, *, is_typed: bool) -> str:
    """Return why policies cannot be tested in an environment; empty where they can.

    `is_typed` says whether a person named it; a file may not choose a module to import.
    """
    options = simulator_options(spaces, env, {})
    try:
        vec = make_and_close(env, lambda: make_vec(env, 1, **options), is_typed=is_typed)
        spaces.check(flatten(vec, spaces.observed), env)
    except CounterBCError as error:
        return str(error)
    return ""


def simulator_options(spaces: Spaces, env: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the environment's options with the simulator that the demonstrations come from, and
    the observations that the policies read."""
    env_id, backend = find_id(env), spaces.backend
    world = next((w for w in WORLDS.values() if w.id == env_id), None)
    options = {**further_observations(env, spaces.observed.keys), **options}
    if backend is None or env_id != spaces.env or world is None:  # others have no `backend`
        return options
    if options.get("backend", backend) != backend:
        raise OptionError(
            f"the demonstrations were recorded in {env} with {backend}; {options['backend']} "
            "renders it differently, so leave the backend out, or record with it as well"
        )
    return {**options, "backend": backend}


def further_observations(env: str, keys: Sequence[str]) -> dict[str, bool]:
    """Return the options of a world that ask for the observations of these names."""
    world = next((w for w in WORLDS.values() if w.id == find_id(env)), None)
    return {} if world is None else {key: True for key in world.optional_obs if key in keys}


def _fitting_keys(names: Sequence[str], space: gymnasium.Space[Any]) -> list[str]:
    """Return the observation keys of the training that have as many numbers as the space."""
    keys = Counter(map(key_of, names))
    return [key for key, width in keys.items() if space.shape == (width,)]
