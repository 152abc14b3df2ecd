"""Worlds by name: where each one's code is, and the facts that other rooms need about it.

Nothing of a world is imported here; its code, and its simulator, are imported when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from counterbc.errors import FormatError, OptionError, unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Expert = Callable[[NDArray[Any], NDArray[Any], int], NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class World:
    """An environment, its expert where there is one, and what to know about both."""

    id: str
    """The gymnasium id."""
    label: str
    """The name in titles and tables."""
    entry: str
    """Where the environment is, `module:Class`; the vector environment is `ClassVector` there."""
    expert: str | None
    """Where the expert is, `module:function`: obs (N, S), keys (N,) int64, step → action (N, A);
    None where only people can demonstrate."""
    steps: int
    """An episode is truncated after this many steps."""
    rate: int
    """Control steps per second."""
    measure: str | None = None
    """The entry of `info` that counts as performance; None: the return."""
    axis_label: str = "return"
    """What an episode's performance is, for an axis."""
    best_return: float | None = None
    """The largest possible return, where there is one."""
    pool: int = 20_000
    """Pairs recorded before the paper's studies draw from them at random."""
    noise_pool: int | None = None
    """Like `pool`, for teachers that only add noise; 0 records only the pairs requested."""
    recorded_obs_keys: tuple[str, ...] | None = None
    """Observation keys to read from files of recorded demonstrations, all if empty; None where the
    paper's studies use synthetic demonstrations."""
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Options that turn the environment into this world."""
    teacher_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Further options when a teacher, not a learner, acts."""
    optional_obs: tuple[str, ...] = ()
    """Observations that are there only if an option of the same name asks for them."""
    aliases: tuple[str, ...] = ()
    """Names of this world in other people's files."""
    extra: str | None = None
    """The extra of this package that installs the simulator; None: the core has it."""

    def load_expert(self) -> Expert:
        """Import the expert."""
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
        """The key in `WORLDS`, or the gymnasium id of a world that is not there."""
        return next((name for name, world in WORLDS.items() if world is self), self.id)


WORLDS: dict[str, World] = {
    "intersection": World(
        id="counterbc/Intersection-v0",
        label="Intersection",
        entry="counterbc.envs.intersection:Intersection",
        expert="counterbc.envs.intersection:expert",
        steps=20,
        rate=10,
        axis_label="reward",
        noise_pool=0,
        teacher_kwargs={"limit_actions": False},
    ),
    "cartpole": World(
        id="counterbc/Cartpole-v0",
        label="Cartpole",
        entry="counterbc.envs.cartpole:Cartpole",
        expert="counterbc.envs.cartpole:expert",
        steps=200,
        rate=50,
        axis_label="steps survived",
        best_return=200.0,
    ),
    "cartpole-hard": World(
        id="counterbc/CartpoleHard-v0",
        label="Cartpole hard",
        entry="counterbc.envs.cartpole:Cartpole",
        expert="counterbc.envs.cartpole:expert",
        steps=200,
        rate=50,
        axis_label="steps survived",
        best_return=200.0,
        kwargs={"start_spread": 4.0},
    ),
    "air-hockey": World(
        id="counterbc/AirHockey-v0",
        label="Air hockey",
        entry="counterbc.envs.air_hockey.world:AirHockey",
        expert="counterbc.envs.air_hockey.expert:expert",
        steps=600,
        rate=20,
        pool=48_000,
    ),
    "car-racing": World(
        id="counterbc/CarRacing-v0",
        label="Car racing",
        entry="counterbc.envs.car_racing.world:CarRacing",
        expert="counterbc.envs.car_racing.expert:expert",
        steps=1000,
        rate=50,
        measure="tiles",
        axis_label="tiles visited",
        pool=8_000,
        optional_obs=("speed",),
        extra="racing",
    ),
    "fork": World(
        id="counterbc/Fork-v0",
        label="Fork",
        entry="counterbc.envs.fork:Fork",
        expert="counterbc.envs.fork:expert",
        steps=30,
        rate=4,
        best_return=1.0,
    ),
    "can": World(
        id="counterbc/Can-v0",
        label="Can",
        entry="counterbc.envs.can.world:Can",
        expert="counterbc.envs.can.expert:expert",
        steps=500,
        rate=20,
        measure="success",
        axis_label="success",
        best_return=1.0,
        recorded_obs_keys=(),
        aliases=("PickPlaceCan",),
        extra="can",
    ),
    "push-t": World(
        id="counterbc/PushT-v0",
        label="Push-T",
        entry="counterbc.envs.push_t:PushT",
        expert=None,
        steps=300,
        rate=10,
        measure="best_coverage",
        axis_label="best coverage",
        recorded_obs_keys=("state",),
        aliases=("gym_pusht/PushT-v0",),
        extra="pusht",
    ),
}


def find_world(name: str) -> World:
    """Return the world of this name."""
    if name not in WORLDS:
        raise unknown("world", name, WORLDS)
    return WORLDS[name]


def find_id(env: str) -> str:
    """Return the gymnasium id of a world's name or alias; any other `env` is returned as it is."""
    ids = {name: world.id for key, world in WORLDS.items() for name in (key, *world.aliases)}
    return ids.get(env, env)


def register() -> None:
    """Register the worlds with gymnasium; a second call changes nothing.

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


def recorded_env(name: object, source: str) -> str | None:
    """Return the environment that a file names, if any.

    Gymnasium imports the module of an id `module:Id`. Only a person may name one, never a file.
    """
    if name is None:
        return None
    if not isinstance(name, str):
        raise FormatError(f"{source} names the environment {name!r:.60}; expected a text; name one")
    if ":" in name:
        raise FormatError(
            f"{source} names the environment {name!r:.120}, and files may not choose a module to "
            "import; if you trust that module, name the environment yourself with --env"
        )
    return name
