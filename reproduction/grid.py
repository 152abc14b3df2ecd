"""The paper's grids: world × teacher × σ × pairs × method × Δ as cells of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from counterbc.demonstrators import NOISES
from counterbc.envs import WORLDS
from counterbc.errors import OptionError
from counterbc.experiments.simulated_cell import SimulatedCell
from counterbc.methods import find_method
from counterbc.supports import Demonstrated
from reproduction.paper import PAPER_RADIUS


@dataclass(frozen=True, kw_only=True)
class PaperGrid:
    """World × teacher × σ × pairs × method × Δ, with the numbers that all of them share."""

    worlds: Sequence[str]
    teachers: Sequence[str]
    pairs: Sequence[int]
    methods: Sequence[str]
    sigmas: Sequence[float] = (0.5,)
    radii: Sequence[float] = (PAPER_RADIUS,)
    seeds: int = 50
    episodes: int = 100
    preset: str = "default"
    steps: int | None = None
    largest_pool: int | None = None
    """Record smaller pools than the paper's, for a quick look."""

    def __post_init__(self) -> None:
        largest = max(self.pairs)
        for world, teacher in product(self.worlds, self.teachers):
            pool = self._pool(world, teacher)
            if pool and largest > pool:
                raise OptionError(
                    f"pairs is {largest}; of {teacher} in {world} {pool} are recorded, so ask for "
                    f"{pool} or fewer"
                )

    def cells(self) -> list[SimulatedCell]:
        """Return the cells; those that learn from the same demonstrations follow each other."""
        return [
            SimulatedCell(
                world=world, teacher=teacher, sigma=sigma, pairs=pairs, method=method,
                radius=radius, pool=self._pool(world, teacher), seeds=self.seeds,
                episodes=self.episodes, preset=self.preset, steps=self.steps,
            )
            for world, teacher in product(self.worlds, self.teachers)
            for sigma in (self.sigmas if teacher in NOISES else (None,))
            for pairs, method in product(self.pairs, self.methods)
            for radius in self._radii(method)
        ]  # fmt: skip

    def _radii(self, method: str) -> Sequence[float | None]:
        without_radius = isinstance(find_method(method)[1].support, Demonstrated)
        return (None,) if without_radius else self.radii

    def _pool(self, world: str, teacher: str) -> int:
        """Return the pairs to record before drawing some; 0 to record only those asked for."""
        about = WORLDS[world]
        pool = about.pool
        if teacher in NOISES and about.noise_pool is not None:
            pool = about.noise_pool
        return min(pool, self.largest_pool or pool)
