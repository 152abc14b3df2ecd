"""The paper's figures and its table as lists of populations.

Figure 2 is computed at once and needs none; table 1 is a summary of figure 4's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Literal

from counterbc.demonstrators import NOISES, TEACHERS
from counterbc.envs import WORLDS, make_vec
from counterbc.errors import OptionError, unknown
from counterbc.settings import settings_for
from counterbc.studies.grid import Grid
from counterbc.studies.population import Population
from counterbc.studies.recovery import Recovery
from counterbc.studies.unit import Unit

METHODS = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")
USUAL = ("intersection", "cartpole")
"""Computed unless other worlds are asked for: the others need more than the core installs."""


@dataclass(frozen=True)
class Sizes:
    """How large the studies of a world are."""

    seeds: int = 50
    episodes: int = 100
    steps: int | None = None
    pairs: tuple[int, ...] = (100, 200, 400, 800, 1600)
    sigmas: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    radii: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    recovery_radii: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 1.0, 2.0)
    most_recorded: int | None = None


FULL = Sizes()
QUICK = Sizes(
    seeds=5, episodes=20, steps=1000, pairs=(100, 400), sigmas=(0.0, 0.5, 1.0),
    radii=(0.0, 0.2, 0.4, 0.8), recovery_radii=(0.25, 0.5, 1.0), most_recorded=4000,
)  # fmt: skip
"""Minutes on two cores; too small to judge the paper by."""
FULL_IN = {
    "air-hockey": replace(FULL, seeds=10, pairs=(200, 400, 800, 1600, 3200)),  # as the paper
    # What hardware allows where a step of the world takes long; --seeds 50 is the paper's size.
    "car-racing": replace(
        FULL,
        seeds=5,
        episodes=10,
        pairs=(400, 1600),
        steps=2000,
        sigmas=(0.0, 0.5, 1.0),
        radii=(0.0, 0.2, 0.4, 0.8),
    ),
    "push-t": replace(FULL, seeds=10, episodes=50),
    "can": replace(FULL, seeds=5, episodes=20),
}
QUICK_IN = {"air-hockey": replace(QUICK, seeds=4, pairs=(200, 800))}
RECORDED: dict[str, tuple[str, ...]] = {"push-t": ("state",), "can": ()}
"""Worlds of which people's demonstrations are in a file, and what is read of them; (): all."""


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
    data: Path | None = None
    """The file of people's demonstrations, for the worlds of `RECORDED`."""

    def __post_init__(self) -> None:
        settings_for(self.preset)
        for name, least in (("seeds", 2), ("steps", 1), ("episodes", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise OptionError(f"{name} is {value}; it must be {least} or more")

    def sizes(self, world: str = "") -> Sizes:
        """Those of a world, as far as nothing else is asked for."""
        usual, special = (QUICK, QUICK_IN) if self.quick else (FULL, FULL_IN)
        own = special.get(world, usual)
        return replace(
            own,
            seeds=self.seeds or own.seeds,
            steps=self.steps or own.steps,
            episodes=self.episodes or own.episodes,
        )

    def grid(
        self,
        worlds: Sequence[str],
        teachers: Sequence[str],
        pairs: Sequence[int] = (),
        methods: Sequence[str] = METHODS,
        along: Literal["sigmas", "radii"] | None = None,
    ) -> list[Population]:
        """The populations of these axes, narrowed to what was asked for; by default of all sizes
        of a world, and of all its σ or Δ only `along` those."""
        made = [w for w in WORLDS if w not in RECORDED]
        worlds = _chosen("world of this figure", self.worlds, worlds, made)
        shown = _chosen("noise or teacher", self.teachers, teachers, [*NOISES, *TEACHERS])
        grids = [
            Grid(
                (world,), shown, pairs or sizes.pairs, methods,
                sizes.sigmas if along == "sigmas" else (0.5,),
                sizes.radii if along == "radii" else (),
                sizes.seeds, sizes.episodes, self.preset, sizes.steps, sizes.most_recorded,
            )
            for world in worlds
            for sizes in [self.sizes(world)]
        ]  # fmt: skip
        return [population for grid in grids for population in grid.populations()]

    def recorded(self, world: str) -> list[Unit]:
        """What people showed in a world: k random pairs of a file for every run."""
        if self.data is None:
            raise OptionError(
                f"{world} is studied with what people recorded; name their file with --data"
            )
        from counterbc.studies.recorded import Recorded, Subset

        sizes, radius = self.sizes(world), settings_for(self.preset).radius
        return [
            Recorded(
                world, self.data, method, radius if method == "counter-bc" else None,
                Subset(pairs=k), RECORDED[world], seeds=sizes.seeds, episodes=sizes.episodes,
                preset=self.preset, steps=sizes.steps,
            )
            for k, method in product(sizes.pairs, METHODS)
        ]  # fmt: skip


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
    sizes = options.sizes()
    radii = (None, *sizes.recovery_radii)
    return [Recovery(r, seeds=sizes.seeds, preset=options.preset, steps=sizes.steps) for r in radii]


def figure4(options: Options) -> list[Unit]:
    """Reward against pairs; in some worlds of real people."""
    teachers = ("crowd", "uniform", "gaussian", "epsilon-greedy")
    people = [world for world in options.worlds if world in RECORDED]
    if len(people) > 1:
        raise OptionError(f"--data is one file, of one world; give only one of {', '.join(people)}")
    others = tuple(w for w in options.worlds if w not in people)
    made = replace(options, worlds=others).grid(USUAL, teachers) if others or not people else []
    return [*made, *(unit for world in people for unit in options.recorded(world))]


def figure5(options: Options) -> list[Unit]:
    """Reward against σ."""
    return [*options.grid(USUAL, ("uniform",), (400,), along="sigmas")]


def figure6(options: Options) -> list[Unit]:
    """Reward against Δ."""
    return [*options.grid(USUAL, ("crowd", "uniform"), (400,), along="radii")]


def figure7(options: Options) -> list[Unit]:
    """Air hockey; all methods but BC-RNN."""
    methods = tuple(m for m in METHODS if m != "bc-rnn")
    return [*options.grid(("air-hockey",), ("crowd",), methods=methods)]


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


def check_worlds(units: Sequence[Unit]) -> None:
    """Make each world once, so that a missing simulator is said before any work."""
    for world in filter(None, by_world(units)):
        make_vec(world, 1).close()


def by_world(units: Sequence[Unit]) -> dict[str, list[Unit]]:
    """The units of each world, or under "" where they have none."""
    found: dict[str, list[Unit]] = {}
    for unit in units:
        found.setdefault(unit.about.get("world", ""), []).append(unit)
    return found
