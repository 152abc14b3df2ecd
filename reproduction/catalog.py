"""The paper's figures and its table as lists of populations.

Figure 2 is computed at once and needs none; table 1 is a summary of figure 4's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Literal

from counterbc.demonstrators import NOISES, TEACHERS
from counterbc.envs import WORLDS, make_vec
from counterbc.errors import OptionError, unknown
from counterbc.experiments.cell import Cell
from counterbc.experiments.simulated_cell import SimulatedCell
from counterbc.methods import find_method
from counterbc.settings import settings_for
from reproduction.grid import PaperGrid, study_radius
from reproduction.recovery import RecoveryCell
from reproduction.sizes import Sizes, usual_sizes

METHODS = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")
USUAL = ("intersection", "cartpole")
"""Computed unless other worlds are asked for: the others need more than the core installs."""
RECORDED: dict[str, tuple[str, ...]] = {"push-t": ("state",), "can": ()}
"""Worlds of which people's demonstrations are in a file, and what is read of them; (): all."""
MADE = tuple(world for world in WORLDS if world not in RECORDED)
"""Worlds in which teachers show what to do."""
LEAST = max(find_method(method)[1].shards for method in METHODS)
"""Pairs that every method can learn from."""


@dataclass(frozen=True)
class FigureOptions:
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
    pairs: tuple[int, ...] = ()
    paper_size: bool = False
    """The paper's size in every world, also where hardware hardly allows it."""

    def __post_init__(self) -> None:
        settings_for(self.preset)
        if self.quick and self.paper_size:
            raise OptionError("a study is quick or of the paper's size; leave one of the two out")
        for name, least in (("seeds", 2), ("steps", 1), ("episodes", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise OptionError(f"{name} is {value}; it must be {least} or more")
        if self.pairs and min(self.pairs) < LEAST:
            raise OptionError(f"pairs is {min(self.pairs)}; it must be {LEAST} or more")

    def sizes(self, world: str = "") -> Sizes:
        """Those of a world, as far as nothing else is asked for."""
        own = usual_sizes(world, self.quick, self.paper_size)
        return replace(
            own,
            pairs=self.pairs or own.pairs,
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
    ) -> list[SimulatedCell]:
        """The populations of these axes, narrowed to what was asked for; by default of all sizes
        of a world, and of all its σ or Δ only `along` those."""
        grids = [
            PaperGrid(
                worlds=(world,), teachers=self.teachers or teachers, pairs=pairs or sizes.pairs,
                methods=methods, sigmas=sizes.sigmas if along == "sigmas" else (0.5,),
                radii=sizes.radii if along == "radii" else (), seeds=sizes.seeds,
                episodes=sizes.episodes, preset=self.preset, steps=sizes.steps,
                largest_pool=sizes.most_recorded,
            )
            for world in self.worlds or worlds
            for sizes in [self.sizes(world)]
        ]  # fmt: skip
        return [cell for grid in grids for cell in grid.cells()]

    def recorded(self, world: str) -> list[Cell]:
        """What people showed in a world: k random pairs of a file for every run."""
        if self.data is None:
            raise OptionError(
                f"{world} is studied with what people recorded; name their file with --data"
            )
        from counterbc.experiments.file_cell import FileCell
        from counterbc.experiments.file_data import Subset

        sizes, radius = self.sizes(world), study_radius(self.preset)
        return [
            FileCell(
                world, self.data, method, radius if method == "counter-bc" else None,
                Subset(pairs=k), RECORDED[world], seeds=sizes.seeds, episodes=sizes.episodes,
                preset=self.preset, steps=sizes.steps,
            )
            for k, method in product(sizes.pairs, METHODS)
        ]  # fmt: skip


def figure2(options: FigureOptions) -> list[Cell]:
    return []


def figure3(options: FigureOptions) -> list[Cell]:
    """|s| − 0.5 by BC and by Counter-BC at growing Δ."""
    sizes = options.sizes()
    radii = (None, *sizes.recovery_radii)
    return [
        RecoveryCell(r, seeds=sizes.seeds, preset=options.preset, steps=sizes.steps) for r in radii
    ]


def figure4(options: FigureOptions) -> list[Cell]:
    """Reward against pairs; in some worlds of real people."""
    teachers = ("crowd", "uniform", "gaussian", "epsilon-greedy")
    people = [world for world in options.worlds if world in RECORDED]
    if len(people) > 1:
        raise OptionError(f"--data is one file, of one world; give only one of {', '.join(people)}")
    others = tuple(w for w in options.worlds if w not in people)
    if people and options.teachers and not others:
        raise OptionError(f"{people[0]} is studied with what people recorded; leave out --noise")
    made = replace(options, worlds=others).grid(USUAL, teachers) if others or not people else []
    return [*made, *(cell for world in people for cell in options.recorded(world))]


def figure5(options: FigureOptions) -> list[Cell]:
    """Reward against σ."""
    return [*options.grid(USUAL, ("uniform",), (400,), along="sigmas")]


def figure6(options: FigureOptions) -> list[Cell]:
    """Reward against Δ."""
    return [*options.grid(USUAL, ("crowd", "uniform"), (400,), along="radii")]


def figure7(options: FigureOptions) -> list[Cell]:
    """Air hockey; all methods but BC-RNN."""
    methods = tuple(m for m in METHODS if m != "bc-rnn")
    return [*options.grid(("air-hockey",), ("crowd",), methods=methods)]


@dataclass(frozen=True)
class Figure:
    """A figure or table, and what may be chosen of it."""

    name: str
    make: Callable[[FigureOptions], list[Cell]]
    worlds: tuple[str, ...] = ()
    teachers: tuple[str, ...] = ()
    sizes: bool = False
    """Whether it is of several numbers of pairs."""

    def __call__(self, options: FigureOptions) -> list[Cell]:
        """What must be computed for it."""
        self.check(options)
        return self.make(options)

    def check(self, options: FigureOptions) -> None:
        """Refuse what this figure does not have."""
        for what, option, asked, allowed in (
            ("world", "--env", options.worlds, self.worlds),
            ("noise or teacher", "--noise", options.teachers, self.teachers),
        ):
            if asked and not allowed:
                raise OptionError(f"{self.name} has no {what} to choose; leave out {option}")
            for name in asked:
                if name not in allowed:
                    raise unknown(f"{what} of {self.name}", name, allowed)
        if options.pairs and not self.sizes:
            having = ", ".join(figure.name for figure in FIGURES.values() if figure.sizes)
            raise OptionError(
                f"{self.name} has no sizes to choose; leave out --pairs, or ask for one of {having}"
            )

    def narrowed(self, options: FigureOptions) -> FigureOptions:
        """Only those of the worlds and teachers that it has, where it has any of them."""
        worlds, teachers = (
            tuple(name for name in asked if name in allowed) or asked
            for asked, allowed in (
                (options.worlds, self.worlds),
                (options.teachers, self.teachers),
            )
        )
        return replace(options, worlds=worlds, teachers=teachers)


_NOISES, _EVERYONE = tuple(NOISES), (*NOISES, *TEACHERS)
FIGURES = {
    figure.name: figure
    for figure in (
        Figure("figure2", figure2),
        Figure("figure3", figure3),
        Figure("figure4", figure4, tuple(WORLDS), _EVERYONE, sizes=True),
        Figure("figure5", figure5, MADE, _NOISES),  # human-like teachers have no σ
        Figure("figure6", figure6, MADE, _EVERYONE),
        Figure("figure7", figure7, ("air-hockey",), _EVERYONE, sizes=True),
        Figure("table1", figure4, tuple(WORLDS), _EVERYONE, sizes=True),
    )
}


@dataclass(frozen=True)
class Plan:
    """Figures, each with what is asked for of it."""

    figures: Mapping[str, FigureOptions]
    notes: tuple[str, ...] = ()
    """What `all` leaves out, in words."""

    def cells(self) -> list[Cell]:
        """What must be computed, in a good order: the longest first, so that none is last and
        alone, but figure by figure and world by world; what several share, once."""
        made = [FIGURES[name](options) for name, options in self.figures.items()]
        stages = [stage for cells in made for stage in by_world(cells).values()]
        each = [cell for s in stages for cell in sorted(s, key=lambda u: u.work, reverse=True)]
        return list({cell.name: cell for cell in each}.values())


def plan(names: Sequence[str], options: FigureOptions) -> Plan:
    """The figures that these names stand for; `all` are those that have what is asked for."""
    figures: dict[str, FigureOptions] = {}
    notes: list[str] = []
    for name in names:
        if name == "all":
            figures |= _all(options, notes)
        elif name in FIGURES:
            figures[name] = options
        else:
            raise unknown("figure or table", name, [*FIGURES, "all"])
    return Plan(figures, tuple(notes))


def _all(options: FigureOptions, notes: list[str]) -> dict[str, FigureOptions]:
    FIGURES["figure4"].check(options)  # which has all there is
    figures = {}
    for name, figure in FIGURES.items():
        own = figure.narrowed(options)
        try:
            figure.check(own)
        except OptionError as error:
            notes.append(f"{name} is left out: {error}")
            continue
        figures[name] = own
        kept = {*own.worlds, *own.teachers}
        if lost := [n for n in (*options.worlds, *options.teachers) if n not in kept]:
            notes.append(f"{name} goes without {', '.join(lost)}")
    return figures


def cells(what: str, options: FigureOptions) -> list[Cell]:
    """What must be computed for a figure, or for all."""
    return plan([what], options).cells()


def check_worlds(cells: Sequence[Cell]) -> None:
    """Make each world once, so that a missing simulator is said before any work."""
    for world in filter(None, by_world(cells)):
        make_vec(world, 1).close()


def by_world(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """The cells of each world, or under "" where they have none."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.about.get("world", ""), []).append(cell)
    return found
