"""The paper's figures and its table as lists of cells to compute.

Figure 2 is computed while it is drawn and has no cells; table 1 summarizes the cells of figure 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from counterbc.demonstrators import HUMAN_TEACHERS, NOISES
from counterbc.envs import WORLDS, make_vec
from counterbc.errors import OptionError, unknown
from counterbc.experiments.cell import Cell
from reproduction.figure_options import RECORDED_WORLDS, FigureOptions
from reproduction.paper import PAPER_METHODS, PAPER_TEACHERS, STAND_IN
from reproduction.recovery import RecoveryCell

USUAL_WORLDS = ("intersection", "cartpole")
"""Worlds of a figure by default; the others need more than the core installs."""
TAUGHT_WORLDS = tuple(world for world in WORLDS if world not in RECORDED_WORLDS)
"""Worlds in which synthetic teachers demonstrate."""


def figure2(options: FigureOptions) -> list[Cell]:
    """Return no cells: the loss of four given policies needs no training."""
    return []


def figure3(options: FigureOptions) -> list[Cell]:
    """Return the cells that recover |s| − 0.5, by BC and by Counter-BC at growing Δ."""
    sizes = options.sizes()
    radii = (None, *sizes.recovery_radii)
    return [
        RecoveryCell(
            method="bc" if r is None else "counter-bc", radius=r, seeds=sizes.seeds,
            preset=options.preset, steps=sizes.steps,
        )
        for r in radii
    ]  # fmt: skip


def figure4(options: FigureOptions) -> list[Cell]:
    """Return the cells of reward against pairs; in some worlds people recorded them."""
    teachers = tuple(t for t in PAPER_TEACHERS if t != "people")
    people = [world for world in options.worlds if world in RECORDED_WORLDS]
    if len(people) > 1:
        raise OptionError(f"--data is one file, of one world; give only one of {', '.join(people)}")
    synthetic = tuple(w for w in options.worlds if w not in people)
    if people and options.teachers and not synthetic:
        raise OptionError(f"{people[0]} is studied with what people recorded; leave out --noise")
    cells: list[Cell] = [cell for world in people for cell in options.recorded_cells(world)]
    if people and not synthetic:
        return cells
    return [*replace(options, worlds=synthetic).grid(USUAL_WORLDS, teachers), *cells]


def figure5(options: FigureOptions) -> list[Cell]:
    """Return the cells of reward against σ."""
    return [*options.grid(USUAL_WORLDS, ("uniform",), (400,), along="sigmas")]


def figure6(options: FigureOptions) -> list[Cell]:
    """Return the cells of reward against Δ."""
    return [*options.grid(USUAL_WORLDS, (STAND_IN, "uniform"), (400,), along="radii")]


def figure7(options: FigureOptions) -> list[Cell]:
    """Return the cells of air hockey: all methods but BC-RNN."""
    methods = tuple(m for m in PAPER_METHODS if m != "bc-rnn")
    return [*options.grid(("air-hockey",), (STAND_IN,), methods=methods)]


@dataclass(frozen=True)
class Figure:
    """A figure or table with the worlds and teachers that it can show."""

    name: str
    make: Callable[[FigureOptions], list[Cell]]
    worlds: tuple[str, ...] = ()
    teachers: tuple[str, ...] = ()
    sizes: bool = False
    """Whether it has several numbers of pairs."""

    def __call__(self, options: FigureOptions) -> list[Cell]:
        """Return the cells to compute."""
        self.check(options)
        return self.make(options)

    def check(self, options: FigureOptions) -> None:
        """Refuse worlds, teachers and sizes that this figure does not have."""
        for label, option, names, choices in (
            ("world", "--env", options.worlds, self.worlds),
            ("noise or teacher", "--noise", options.teachers, self.teachers),
        ):
            if names and not choices:
                raise OptionError(f"{self.name} has no {label} to choose; leave out {option}")
            for name in names:
                if name not in choices:
                    raise unknown(f"{label} of {self.name}", name, choices)
        if options.pairs and not self.sizes:
            sized_figures = ", ".join(figure.name for figure in FIGURES.values() if figure.sizes)
            raise OptionError(
                f"{self.name} has no sizes to choose; leave out --pairs, or ask for one of "
                f"{sized_figures}"
            )

    def narrow(self, options: FigureOptions) -> FigureOptions:
        """Return the options without worlds and teachers that this figure does not have."""
        worlds, teachers = (
            tuple(name for name in names if name in choices) or names
            for names, choices in (
                (options.worlds, self.worlds),
                (options.teachers, self.teachers),
            )
        )
        return replace(options, worlds=worlds, teachers=teachers)


_NOISES, _ALL_TEACHERS = tuple(NOISES), (*NOISES, *HUMAN_TEACHERS)
FIGURES = {
    figure.name: figure
    for figure in (
        Figure("figure2", figure2),
        Figure("figure3", figure3),
        Figure("figure4", figure4, tuple(WORLDS), _ALL_TEACHERS, sizes=True),
        Figure("figure5", figure5, TAUGHT_WORLDS, _NOISES),  # human-like teachers have no σ
        Figure("figure6", figure6, TAUGHT_WORLDS, _ALL_TEACHERS),
        Figure("figure7", figure7, ("air-hockey",), _ALL_TEACHERS, sizes=True),
        Figure("table1", figure4, tuple(WORLDS), _ALL_TEACHERS, sizes=True),
    )
}


@dataclass(frozen=True)
class Plan:
    """Figures with the options of each."""

    figures: Mapping[str, FigureOptions]
    notes: tuple[str, ...] = ()
    """Sentences about what `all` leaves out."""

    def cells(self) -> list[Cell]:
        """Return all cells to compute, each once: by figure, then by world, the longest first.

        A long cell that starts last would keep one worker busy while the others wait.
        """
        figures = [FIGURES[name](options) for name, options in self.figures.items()]
        stages = [stage for cells in figures for stage in by_world(cells).values()]
        sorted_cells = [
            c for s in stages for c in sorted(s, key=lambda cell: cell.work, reverse=True)
        ]
        return list({cell.name: cell for cell in sorted_cells}.values())


def plan(names: Sequence[str], options: FigureOptions) -> Plan:
    """Return the figures of these names; `all` selects those that have the worlds asked for."""
    figures: dict[str, FigureOptions] = {}
    notes: list[str] = []
    for name in names:
        if name == "all":
            figures |= _plan_all(options, notes)
        elif name in FIGURES:
            figures[name] = options
        else:
            raise unknown("figure or table", name, [*FIGURES, "all"])
    return Plan(figures, tuple(notes))


def _plan_all(options: FigureOptions, notes: list[str]) -> dict[str, FigureOptions]:
    FIGURES["figure4"].check(options)  # figure 4 has every world and teacher
    figures = {}
    for name, figure in FIGURES.items():
        narrowed = figure.narrow(options)
        try:
            figure.check(narrowed)
        except OptionError as error:
            notes.append(f"{name} is left out: {error}")
            continue
        figures[name] = narrowed
        kept_names = {*narrowed.worlds, *narrowed.teachers}
        if lost_names := [n for n in (*options.worlds, *options.teachers) if n not in kept_names]:
            notes.append(f"{name} is without {', '.join(lost_names)}")
    return figures


def check_worlds(cells: Sequence[Cell]) -> None:
    """Make each world once, so that a missing simulator is reported before any work."""
    for world in filter(None, by_world(cells)):
        make_vec(world, 1).close()


def by_world(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """Return the cells of each world; those without a world are under ""."""
    worlds: dict[str, list[Cell]] = {}
    for cell in cells:
        worlds.setdefault(cell.about.get("world", ""), []).append(cell)
    return worlds
