"""Whether an environment has the observations and actions of a training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
from gymnasium.vector import VectorEnv

from counterbc.acting.observations import Observed
from counterbc.acting.own_environments import environment_maker
from counterbc.acting.policies import Policies
from counterbc.acting.run_config import key_of
from counterbc.data.demonstrations import Demonstrations
from counterbc.envs import WORLDS, find_id, reason_not_made
from counterbc.errors import CounterBCError


@dataclass(frozen=True, kw_only=True)
class Spaces:
    """What policies read and give, to compare with what an environment has."""

    observed: Observed
    obs_shape: tuple[int, ...]
    action_size: int
    obs_names: Sequence[str]

    @staticmethod
    def of_policies(policies: Policies) -> Spaces:
        return Spaces(
            observed=policies.observed,
            obs_shape=policies.obs_shape,
            action_size=policies.action_size,
            obs_names=policies.run_config.obs_names,
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
        )

    def check(self, env: VectorEnv[Any, Any, Any], name: str) -> None:
        """Refuse an environment whose observations or actions have another shape."""
        observed = self.observed
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
            advice = f"; choose --obs {keys[0]}, which fits" if len(keys) == 1 else ""
            raise CounterBCError(
                f"the {noun} of {name} are {space}; the training has {expected}{advice}"
            )


def reason_not_tested(env: str, spaces: Spaces, *, is_typed: bool) -> str:
    """Return why policies cannot be tested in an environment; empty where they can.

    `is_typed` says whether a person named it; a file may not choose a module to import.
    """

    def compare() -> None:
        options = further_observations(env, spaces.observed.keys)
        vec = environment_maker(env, spaces.observed, **options)(1)
        vec.close()
        spaces.check(vec, env)

    return reason_not_made(env, is_typed=is_typed, attempt=compare)


def further_observations(env: str, keys: Sequence[str]) -> dict[str, bool]:
    """Return the options of a world that ask for the observations of these names."""
    world = next((w for w in WORLDS.values() if w.id == find_id(env)), None)
    return {} if world is None else {key: True for key in world.optional_obs if key in keys}


def _fitting_keys(names: Sequence[str], space: gymnasium.Space[Any]) -> list[str]:
    """Return the observation keys of the training that have as many numbers as the space."""
    keys = Counter(map(key_of, names))
    return [key for key, width in keys.items() if space.shape == (width,)]
