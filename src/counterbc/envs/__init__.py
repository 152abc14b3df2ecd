"""The worlds of the paper, as gymnasium environments.

Importing this registers them and costs no more than gymnasium itself.
"""

from counterbc.envs.making import make, make_and_close, make_vec, reason_not_made
from counterbc.envs.registry import WORLDS, World, find_id, find_world, recorded_env, register

__all__ = [
    "WORLDS",
    "World",
    "find_id",
    "find_world",
    "make",
    "make_and_close",
    "make_vec",
    "reason_not_made",
    "recorded_env",
    "register",
]

# gymnasium's convention for packages: `gymnasium.make("counterbc.envs:counterbc/Intersection-v0")`
# imports the module and expects the id to be there.
register()
