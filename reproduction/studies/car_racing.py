"""Car Racing from pixels: the rows of figure 4 with two teachers.

Each seed records 8000 pairs and learns from 400 or 1600 of them, drawn at random; Δ is 0.4. All
methods of a seed see the same pairs and drive on the same ten tracks. Figures 4, 5 and 6 of this
world come from `python -m reproduction draw figure4 --env car-racing --study car-racing`.
"""

from __future__ import annotations

from dataclasses import dataclass

from counterbc.experiments.simulated_cell import SimulatedCell
from reproduction.figure_options import FigureOptions
from reproduction.paper import PAPER_RADIUS
from reproduction.rows import CellOptions, run_cells

WORLD = "car-racing"
RACING_TEACHERS = ("uniform", "quick-typical")
SEEDS, EPISODES, STEPS = 5, 10, 2000


@dataclass(frozen=True, kw_only=True)
class CarRacingOptions(CellOptions):
    """Compare the paper's methods in Car Racing."""

    seeds: int = SEEDS
    episodes: int = EPISODES
    steps: int = STEPS


def run(options: CarRacingOptions) -> None:
    """Compute the missing cells and archive all rows."""
    run_cells(cells(options.seeds, options.episodes, options.steps), WORLD, options)


def cells(seeds: int = SEEDS, episodes: int = EPISODES, steps: int = STEPS) -> list[SimulatedCell]:
    """Return the cells of figure 4 with these teachers."""
    options = FigureOptions(seeds=seeds, episodes=episodes, steps=steps)
    return options.grid((WORLD,), RACING_TEACHERS)


def training_cell(seeds: int) -> SimulatedCell:
    """Return the cell whose demonstrations the follow-up studies learn from."""
    return SimulatedCell(
        world=WORLD,
        teacher="uniform",
        sigma=0.5,
        pairs=400,
        method="counter-bc",
        radius=PAPER_RADIUS,
        pool=8000,
        seeds=seeds,
    )
