"""What is asked for of the paper's figures: worlds, teachers, sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Literal

from counterbc.envs import WORLDS
from counterbc.errors import OptionError
from counterbc.experiments.cell import Cell
from counterbc.experiments.ray_cluster import On
from counterbc.experiments.simulated_cell import SimulatedCell
from counterbc.methods import find_method
from counterbc.settings import settings_for
from reproduction.grid import PaperGrid
from reproduction.options import StudyOptions, option
from reproduction.paper import PAPER_METHODS, PAPER_RADIUS
from reproduction.sizes import Sizes, usual_sizes

RECORDED_WORLDS = {
    name: world.recorded_obs_keys
    for name, world in WORLDS.items()
    if world.recorded_obs_keys is not None
}
"""Worlds whose demonstrations people recorded, and the observations to read; (): all."""
LEAST_PAIRS = max(find_method(method)[1].shards for method in PAPER_METHODS)
"""Pairs that every method can learn from."""


@dataclass(frozen=True, kw_only=True)
class FigureOptions:
    """Options of the paper's figures; empty and None leave everything as in the paper."""

    quick: bool = option(False, "few seeds, steps and points: minutes, too small for verdicts")
    paper_size: bool = option(False, "the paper's size in every world, slow ones too")
    worlds: tuple[str, ...] = option((), "only these worlds", flag="--env")
    teachers: tuple[str, ...] = option((), "only these noises or teachers", flag="--noise")
    pairs: tuple[int, ...] = option((), "only these numbers of pairs (figures 4 and 7, table 1)")
    seeds: int | None = option(None, "runs per point; in the paper 50, in figure 7 10")
    steps: int | None = option(None, "gradient steps; by default the preset's")
    episodes: int | None = option(None, "test starts per run; in the paper 100")
    preset: str = option("default", "default, paper (the text) or authors (their code)")
    data: Path | None = option(None, "file that people recorded, for --env push-t or can")

    def __post_init__(self) -> None:
        settings_for(self.preset)
        if self.quick and self.paper_size:
            raise OptionError("a study is quick or of the paper's size; leave one of the two out")
        for name, minimum in (("seeds", 2), ("steps", 1), ("episodes", 1)):
            value = getattr(self, name)
            if value is not None and value < minimum:
                raise OptionError(f"{name} is {value}; it must be {minimum} or more")
        if self.pairs and min(self.pairs) < LEAST_PAIRS:
            raise OptionError(f"pairs is {min(self.pairs)}; it must be {LEAST_PAIRS} or more")

    @property
    def radius(self) -> float:
        """Return Δ where a figure does not vary it: the preset's, or the paper's 0.4."""
        radius = settings_for(self.preset).radius
        return radius if isinstance(radius, float) else PAPER_RADIUS

    def sizes(self, world: str = "") -> Sizes:
        """Return the usual sizes of a world, except for those asked for."""
        usual = usual_sizes(world, self.quick, self.paper_size)
        return replace(
            usual,
            pairs=self.pairs or usual.pairs,
            seeds=self.seeds or usual.seeds,
            steps=self.steps or usual.steps,
            episodes=self.episodes or usual.episodes,
        )

    def grid(
        self,
        worlds: Sequence[str],
        teachers: Sequence[str],
        pairs: Sequence[int] = (),
        methods: Sequence[str] = PAPER_METHODS,
        along: Literal["sigmas", "radii"] | None = None,
    ) -> list[SimulatedCell]:
        """Return the cells of these axes, narrowed to the worlds and teachers asked for.

        By default they have every number of pairs of a world; they vary σ or Δ only `along` it.
        """
        grids = [
            PaperGrid(
                worlds=(world,),
                teachers=self.teachers or teachers,
                pairs=pairs or sizes.pairs,
                methods=methods,
                sigmas=sizes.sigmas if along == "sigmas" else (0.5,),
                radii=sizes.radii if along == "radii" else (self.radius,),
                seeds=sizes.seeds,
                episodes=sizes.episodes,
                preset=self.preset,
                steps=sizes.steps,
                largest_pool=sizes.largest_pool,
            )
            for world in self.worlds or worlds
            for sizes in [self.sizes(world)]
        ]
        return [cell for grid in grids for cell in grid.cells()]

    def recorded_cells(self, world: str) -> list[Cell]:
        """Return the cells of a world whose demonstrations people recorded.

        Every run learns from k random pairs of the file.
        """
        if self.data is None:
            raise OptionError(
                f"{world} is studied with what people recorded; name their file with --data"
            )
        from counterbc.experiments.file_cell import FileCell
        from counterbc.experiments.file_data import Subset

        sizes = self.sizes(world)
        return [
            FileCell(
                world=world,
                file=self.data,
                method=method,
                radius=self.radius if method == "counter-bc" else None,
                subset=Subset(pairs=k),
                obs=RECORDED_WORLDS[world],
                seeds=sizes.seeds,
                episodes=sizes.episodes,
                preset=self.preset,
                steps=sizes.steps,
            )
            for k, method in product(sizes.pairs, PAPER_METHODS)
        ]


@dataclass(frozen=True, kw_only=True)
class RunOptions(FigureOptions, StudyOptions):
    """Compute the rows of figures; finished rows are kept."""

    study: str | None = option(None, "folder of the rows inside --out; by default the figure's")
    device: str | None = None
    on: On = option("local", "this machine, or a Ray cluster")
    address: str | None = option(None, "address of the Ray cluster; by default RAY_ADDRESS")
    workers: int | None = option(None, "cells at a time; by default one per core, 12 on a GPU")
    mixed: bool = option(False, "add to rows made by another kind of device or other versions")
    left: bool = option(False, "only print how much is left to do")
    sd: float | None = option(None, "standard deviation of differences between methods, to print "
                              "which differences the runs can resolve")  # fmt: skip
