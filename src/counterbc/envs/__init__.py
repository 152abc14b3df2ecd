"""The worlds of the paper, as gymnasium environments.

Importing this registers them and costs no more than gymnasium itself; what a world needs is
imported when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from counterbc.errors import CounterBCError, OptionError, unknown

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv
    from numpy.typing import NDArray

    Expert = Callable[[NDArray[Any], NDArray[Any], int], NDArray[Any]]


@dataclass(frozen=True)
class World:
    """An environment, with an expert to learn from where there is one."""

    id: str
    """What gymnasium calls it."""
    entry: str
    """Where its environment is, `module:Class`; the vector environment is `ClassVector` there."""
    expert: str | None
    """Where its expert is, `module:function`: obs (N, S), keys (N,) int64, step → action (N, A);
    None where only people show what to do."""
    steps: int
    """After how many steps an episode is truncated."""
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Options of the environment that make this world of it."""
    teacher_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """How the environment is made when a teacher, not a learner, acts in it."""
    also: tuple[str, ...] = ()
    """What other people's files call it."""
    extra: str | None = None
    """The extra of this package that installs its simulator; None: the core has it."""

    def load_expert(self) -> Expert:
        if self.expert is None:
            raise OptionError(
                f"{self.name} has no synthetic expert; use recorded demonstrations: "
                f"counterbc train DEMOS, then counterbc evaluate run --env {self.name}"
            )
        module, _, name = self.expert.partition(":")
        expert: Expert = getattr(import_module(module), name)
        return expert

    @property
    def name(self) -> str:
        """What it is called here."""
        return next((name for name, world in WORLDS.items() if world is self), self.id)


WORLDS: dict[str, World] = {
    "intersection": World(
        id="counterbc/Intersection-v0",
        entry="counterbc.envs.intersection:Intersection",
        expert="counterbc.envs.intersection:expert",
        steps=20,
        teacher_kwargs={"limit_actions": False},
    ),
    "cartpole": World(
        id="counterbc/Cartpole-v0",
        entry="counterbc.envs.cartpole:Cartpole",
        expert="counterbc.envs.cartpole:expert",
        steps=200,
    ),
    "cartpole-hard": World(
        id="counterbc/CartpoleHard-v0",
        entry="counterbc.envs.cartpole:Cartpole",
        expert="counterbc.envs.cartpole:expert",
        steps=200,
        kwargs={"start_spread": 4.0},
    ),
    "air-hockey": World(
        id="counterbc/AirHockey-v0",
        entry="counterbc.envs.air_hockey.world:AirHockey",
        expert="counterbc.envs.air_hockey.expert:expert",
        steps=600,
    ),
    "car-racing": World(
        id="counterbc/CarRacing-v0",
        entry="counterbc.envs.car_racing.world:CarRacing",
        expert="counterbc.envs.car_racing.expert:expert",
        steps=1000,
        extra="racing",
    ),
    "fork": World(
        id="counterbc/Fork-v0",
        entry="counterbc.envs.fork:Fork",
        expert="counterbc.envs.fork:expert",
        steps=30,
    ),
    "can": World(
        id="counterbc/Can-v0",
        entry="counterbc.envs.can.world:Can",
        expert="counterbc.envs.can.expert:expert",
        steps=500,
        extra="can",
        also=("PickPlaceCan",),
    ),
    "push-t": World(
        id="counterbc/PushT-v0",
        entry="counterbc.envs.push_t:PushT",
        expert=None,
        steps=300,
        extra="pusht",
        also=("gym_pusht/PushT-v0",),
    ),
}


def register() -> None:
    """Make the ids known to gymnasium; a second call changes nothing.

    A plugin loader that sets the namespace `counterbc` itself arrives at the same ids.
    """
    from gymnasium.envs import registration

    for world in WORLDS.values():
        if world.id not in registration.registry:
            registration.register(
                id=world.id,
                entry_point=world.entry,
                vector_entry_point=f"{world.entry}Vector",
                max_episode_steps=world.steps,
                kwargs=dict(world.kwargs),
            )


def find_id(env: str) -> str:
    """What gymnasium calls a world, also where it goes by another's name; else `env` itself."""
    known = {name: w.id for key, w in WORLDS.items() for name in (key, *w.also)}
    return known.get(env, env)


def make_vec(env: str, num_envs: int, **kwargs: Any) -> VectorEnv[Any, Any, Any]:
    """A vector environment of a world or any gymnasium id, native where there is a native one."""
    import gymnasium
    from gymnasium import error
    from gymnasium.envs.registration import parse_env_id

    register()
    env_id = find_id(env)
    try:
        parse_env_id(env_id.rpartition(":")[2])
    except error.Error:  # a malformed id; gymnasium has no narrower class for it
        raise unknown("environment", env, [*WORLDS, "or any gymnasium id"]) from None
    try:
        return gymnasium.make_vec(env_id, num_envs, **kwargs)
    except (error.UnregisteredEnv, error.DeprecatedEnv, ModuleNotFoundError) as problem:
        text = f"or any gymnasium id ({problem})"
        raise unknown("environment", env, [*WORLDS, text]) from None
    except error.DependencyNotInstalled as problem:
        raise CounterBCError(f"environment {env!r} cannot be made: {problem}") from None


# gymnasium's convention for packages: `gymnasium.make("counterbc.envs:counterbc/Intersection-v0")`
# imports the module and expects the id to be there.
register()
