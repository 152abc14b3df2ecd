"""The paper's figures and its table as lists of populations.

Figure 2 is computed at once and needs none; table 1 is a summary of figure 4's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from counterbc.demonstrators import NOISES, TEACHERS
from counterbc.envs import WORLDS
from counterbc.errors import OptionError, unknown
from counterbc.settings import settings_for
from counterbc.studies.grid import Grid
from counterbc.studies.population import Population
from counterbc.studies.recovery import Recovery
from counterbc.studies.unit import Unit

METHODS = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")
NOT_BUILT = ("car-racing", "can", "push-t")


@dataclass(frozen=True)
class Sizes:
    """How large the studies are."""

    seeds: int = 50
    hockey_seeds: int = 10
    episodes: int = 100
    steps: int | None = None
    pairs: tuple[int, ...] = (100, 200, 400, 800, 1600)
    hockey_pairs: tuple[int, ...] = (200, 400, 800, 1600, 3200)
    sigmas: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    radii: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    recovery_radii: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 1.0, 2.0)
    most_recorded: int | None = None


FULL = Sizes()
QUICK = Sizes(
    seeds=5, hockey_seeds=4, episodes=20, steps=1000, pairs=(100, 400), hockey_pairs=(200, 800),
    sigmas=(0.0, 0.5, 1.0), radii=(0.0, 0.2, 0.4, 0.8), recovery_radii=(0.25, 0.5, 1.0),
    most_recorded=4000,
)  # fmt: skip
"""Minutes on two cores; too small to judge the paper by."""


@dataclass(frozen=True)
class Options:
    """What is asked for; empty and None leave a thing as the paper has it."""

    quick: bool = False
    worlds: tuple[str, ...] = ()
    teachers: tuple[str, ...] = ()
    seeds: int | None = None
    steps: int | None = None
    episodes: int | None = None
    preset: str = "default"

    def __post_init__(self) -> None:
        settings_for(self.preset)
        for name, least in (("seeds", 2), ("steps", 1), ("episodes", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise OptionError(f"{name} is {value}; it must be {least} or more")
        for world in self.worlds:
            if world in NOT_BUILT and world not in WORLDS:
                raise OptionError(
                    f"the world {world} is not built yet; choose from {', '.join(WORLDS)}"
                )

    @property
    def sizes(self) -> Sizes:
        return QUICK if self.quick else FULL

    def grid(
        self,
        worlds: Sequence[str],
        teachers: Sequence[str],
        pairs: Sequence[int],
        methods: Sequence[str] = METHODS,
        sigmas: Sequence[float] = (0.5,),
        radii: Sequence[float] = (),
        seeds: int | None = None,
    ) -> list[Population]:
        """The populations of these axes, narrowed to what was asked for."""
        return Grid(
            _chosen("world", self.worlds, worlds, WORLDS),
            _chosen("noise or teacher", self.teachers, teachers, [*NOISES, *TEACHERS]),
            pairs, methods, sigmas, radii,
            self.seeds or seeds or self.sizes.seeds,
            self.episodes or self.sizes.episodes,
            self.preset,
            self.steps or self.sizes.steps,
            self.sizes.most_recorded,
        ).populations()  # fmt: skip


def _chosen(
    what: str, asked: Sequence[str], usual: Sequence[str], allowed: Collection[str]
) -> tuple[str, ...]:
    for name in asked:
        if name not in allowed:
            raise unknown(what, name, allowed)
    return tuple(asked) or tuple(usual)


def figure2(options: Options) -> list[Unit]:
    return []


def figure3(options: Options) -> list[Unit]:
    """|s| − 0.5 by BC and by Counter-BC at growing Δ."""
    sizes = options.sizes
    seeds, steps = options.seeds or sizes.seeds, options.steps or sizes.steps
    radii = (None, *sizes.recovery_radii)
    return [Recovery(r, seeds=seeds, preset=options.preset, steps=steps) for r in radii]


def figure4(options: Options) -> list[Unit]:
    """Reward against pairs."""
    teachers = ("crowd", "uniform", "gaussian", "epsilon-greedy")
    return [*options.grid(("intersection", "cartpole"), teachers, options.sizes.pairs)]


def figure5(options: Options) -> list[Unit]:
    """Reward against σ."""
    sigmas = options.sizes.sigmas
    return [*options.grid(("intersection", "cartpole"), ("uniform",), (400,), sigmas=sigmas)]


def figure6(options: Options) -> list[Unit]:
    """Reward against Δ."""
    radii = options.sizes.radii
    worlds, teachers = ("intersection", "cartpole"), ("crowd", "uniform")
    return [*options.grid(worlds, teachers, (400,), radii=radii)]


def figure7(options: Options) -> list[Unit]:
    """Air hockey; all methods but BC-RNN."""
    methods, sizes = tuple(m for m in METHODS if m != "bc-rnn"), options.sizes
    return [
        *options.grid(
            ("air-hockey",), ("crowd",), sizes.hockey_pairs, methods, seeds=sizes.hockey_seeds
        )
    ]


FIGURES: dict[str, Callable[[Options], list[Unit]]] = {
    "figure2": figure2,
    "figure3": figure3,
    "figure4": figure4,
    "figure5": figure5,
    "figure6": figure6,
    "figure7": figure7,
    "table1": figure4,
}


def parts(what: str) -> list[str]:
    """The figures that a name stands for."""
    if what != "all" and what not in FIGURES:
        raise unknown("figure or table", what, [*FIGURES, "all"])
    return list(FIGURES) if what == "all" else [what]


def units(what: str, options: Options) -> list[Unit]:
    """What must be computed for it, in a good order: the longest first, so that none is last and
    alone, but figure by figure and world by world; what several share, once."""
    stages = [stage for part in parts(what) for stage in by_world(FIGURES[part](options)).values()]
    each = [unit for s in stages for unit in sorted(s, key=lambda u: u.work, reverse=True)]
    return list({unit.name: unit for unit in each}.values())


def by_world(units: Sequence[Unit]) -> dict[str, list[Unit]]:
    """The units of each world, or under "" where they have none."""
    found: dict[str, list[Unit]] = {}
    for unit in units:
        found.setdefault(unit.about.get("world", ""), []).append(unit)
    return found
