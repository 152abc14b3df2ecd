"""A cell that learns from simulated demonstrations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import NOISES, Demonstrator, demonstrate, find_teacher
from counterbc.envs import WORLDS
from counterbc.errors import OptionError, unknown
from counterbc.experiments.cell import (
    SEARCH_NETWORKS,
    WorldCell,
    check_counts,
    check_data,
    evaluate_acts,
    uses_search,
)
from counterbc.experiments.simulated_data import SimulatedData, simulated_datasets
from counterbc.experiments.text import join_value
from counterbc.methods import find_method

LARGEST_POOL = 10_000_000  # pairs


@dataclass(frozen=True, kw_only=True)
class SimulatedCell(WorldCell):
    """One method on the demonstrations of one teacher in one world, with all its seeds.

    Seed k learns from demonstrations and is tested from starts that depend on k and not on the
    method, so all methods see the same.
    """

    world: str
    teacher: str
    """A noise (uniform, gaussian, epsilon-greedy), or the name of a teacher."""
    sigma: float | None
    """The strength of a noise; None for other teachers."""
    pairs: int
    pool: int = 0
    """Pairs that are recorded, of which `pairs` are drawn; see `simulated_datasets`."""
    seeds: int = 50
    episodes: int = 100

    def __post_init__(self) -> None:
        """Refuse what cannot be computed before any work is done."""
        if self.world not in WORLDS:
            raise unknown("world", self.world, WORLDS)
        if self.pool and not self.pairs <= self.pool <= LARGEST_POOL:
            raise OptionError(
                f"pool is {self.pool}; it must be {self.pairs} to {LARGEST_POOL}, or 0"
            )
        self.demonstrator()
        method = self.settings.apply(find_method(self.method)[1])
        check_counts(self, pairs=method.shards, seeds=1, episodes=1)

    def demonstrator(self) -> Demonstrator:
        """Return the teacher that demonstrates."""
        noise = self.teacher if self.teacher in NOISES else None
        teacher = None if noise else self.teacher
        return find_teacher(teacher, noise, self.sigma, world=self.world)

    @property
    def about(self) -> dict[str, Any]:
        about = super().about
        if not self.changes:
            del about["changes"]
        return about

    @property
    def title(self) -> str:
        sigma = "" if self.sigma is None else f"-{self.sigma:g}"
        radius = "" if self.radius is None else f"-{join_value(self.radius)}"
        return f"{self.world}-{self.teacher}{sigma}-{self.pairs}-{self.method}{radius}"

    @property
    def work(self) -> float:
        method = self.settings.apply(find_method(self.method)[1])
        networks = self.seeds * method.shards * method.rounds
        if uses_search(self.settings, method):
            networks += SEARCH_NETWORKS * self.seeds
        batch = self.settings.batch_size(max(1, self.pairs // method.shards))
        microseconds = method.policy.history * method.policy.cost * (20 + batch)
        return networks * float(self.settings.step_count) * microseconds * 1e-6

    @property
    def columns(self) -> dict[str, Any]:
        columns = super().columns
        if not isinstance(self.radius, float | int | None):
            columns["radius"] = join_value(self.radius)
        return columns | ({"changes": join_value(self.changes)} if self.changes else {})

    def check(self) -> None:
        check_data(self.method, self.settings, demonstrate(self.world, self.demonstrator(), 1, 0))

    def datasets(self, device: str | None = None) -> list[Demonstrations]:
        recording = SimulatedData(
            world=self.world, teacher=self.demonstrator(), pairs=self.pairs, seeds=self.seeds
        )
        return simulated_datasets(recording, self.pool)

    def measure(
        self, policies: Policies, datasets: Sequence[Demonstrations]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield means over the test starts, one row per seed and way of acting."""
        for e in evaluate_acts(policies, self.world, episodes=self.episodes, acts=self.acts):
            arrays = {"return": e.returns, "length": e.lengths} | dict(e.measures)
            for i, data in enumerate(datasets):
                means = {name: float(values[i].mean()) for name, values in arrays.items()}
                yield i, {"act": e.act, **means, "shown_return": data.mean_return}
