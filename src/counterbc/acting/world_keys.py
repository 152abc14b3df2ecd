"""Which of the recorded observations an environment has."""

from __future__ import annotations

from collections.abc import Sequence

from counterbc.data.names import GOAL_KEY
from counterbc.envs import WORLDS, find_id


def keys_of_world(obs_keys: Sequence[tuple[str, int]], env: str | None) -> tuple[str, ...]:
    """Return those of the data's observation keys that an environment observes, and the goal that
    was added to them; empty if the data have no others.

    `obs_keys` are keys with their widths, as demonstrations have them.
    """
    keys, env_id = [key for key, _ in obs_keys], find_id(env or "")
    for world in WORLDS.values():
        observed = world.recorded_obs_keys or ()
        if env_id == world.id and observed and {*observed} <= {*keys}:
            chosen = (*observed, *(key for key in keys if key == GOAL_KEY))
            return chosen if {*chosen} < {*keys} else ()
    return ()
