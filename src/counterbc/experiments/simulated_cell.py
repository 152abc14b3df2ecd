"""A cell that learns from simulated demonstrations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import pyarrow as pa

from counterbc.acting.actor import ACTS, Act
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import NOISES, Teacher, demonstrate, find_teacher
from counterbc.envs import WORLDS
from counterbc.errors import OptionError, unknown
from counterbc.experiments.cell import (
    SEARCH_NETWORKS,
    Cell,
    check_counts,
    check_data,
    evaluate_acts,
    reproducible,
    uses_search,
)
from counterbc.experiments.simulated_data import SimulatedData, simulated_datasets
from counterbc.experiments.text import join_value
from counterbc.methods import find_method
from counterbc.policies import GaussianGRU
from counterbc.settings import Settings, settings_for
from counterbc.trainer import train

LARGEST_POOL = 10_000_000  # pairs


@dataclass(frozen=True)
class SimulatedCell(Cell):
    """One method on the demonstrations of one teacher in one world, with all its seeds.

    Seed k learns from demonstrations and is tested from starts that depend on k and not on the
    method, so all methods see the same.
    """

    world: str
    teacher: str
    """A noise (uniform, gaussian, epsilon-greedy), or the name of a human-like teacher."""
    sigma: float | None
    """The strength of a noise; None for human-like teachers."""
    pairs: int
    method: str
    radius: float | tuple[float, ...] | Literal["auto"] | None
    """Δ; None for methods that do not use one, or for the preset's."""
    pool: int = 0
    """Pairs that are recorded, of which `pairs` are drawn; see `simulated_datasets`."""
    seeds: int = 50
    episodes: int = 100
    preset: str = "default"
    steps: int | None = None
    """Gradient steps; None for the preset's."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of `Settings` that differ from the preset's."""
    acts: tuple[Act, ...] = ACTS
    """Ways of acting that are tested."""

    def __post_init__(self) -> None:
        """Refuse what cannot be computed before any work is done."""
        if self.world not in WORLDS:
            raise unknown("world", self.world, WORLDS)
        if self.pool and not self.pairs <= self.pool <= LARGEST_POOL:
            raise OptionError(
                f"pool is {self.pool}; it must be {self.pairs} to {LARGEST_POOL}, or 0"
            )
        self._teacher()
        method = self.settings.apply(find_method(self.method)[1])
        check_counts(self, pairs=method.shards, seeds=1, episodes=1)

    def _teacher(self) -> Teacher:
        noise = self.teacher if self.teacher in NOISES else None
        return find_teacher(None if noise else self.teacher, noise, self.sigma)

    @property
    def _overrides(self) -> dict[str, Any]:
        numbers = {"radius": self.radius, "steps": self.steps}
        return {k: v for k, v in numbers.items() if v is not None} | dict(self.changes)

    @property
    def settings(self) -> Settings:
        """Return the settings of the training."""
        return settings_for(self.preset, **self._overrides)

    @property
    def about(self) -> dict[str, Any]:
        about = asdict(self) | {"steps": self.settings.steps}
        if self.acts == ACTS:
            del about["acts"]
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
        method = find_method(self.method)[1]
        networks = self.seeds * method.shards * method.rounds
        if uses_search(self.settings, method):
            networks += SEARCH_NETWORKS * self.seeds
        batch = settings_for(self.preset).batch_size(max(1, self.pairs // method.shards))
        gates = 3 if isinstance(method.policy, GaussianGRU) else 1
        microseconds = method.policy.history * gates * (20 + batch)
        return networks * float(self.settings.steps) * microseconds * 1e-6

    @property
    def training(self) -> dict[str, Any]:
        numbers = {"method": self.method, "seeds": self.seeds, "preset": self.preset}
        return numbers | self._overrides

    @property
    def performance(self) -> str:
        """Return the column that counts as performance in this world."""
        return WORLDS[self.world].measure or "return"

    @property
    def columns(self) -> dict[str, Any]:
        columns = {k: v for k, v in self.about.items() if k != "acts"}
        if not isinstance(self.radius, float | int | None):
            columns["radius"] = join_value(self.radius)
        return columns | ({"changes": join_value(self.changes)} if self.changes else {})

    def check(self) -> None:
        check_data(self.method, self.settings, demonstrate(self.world, self._teacher(), 1, 0))

    def datasets(self, device: str | None = None) -> list[Demonstrations]:
        recording = SimulatedData(
            world=self.world, teacher=self._teacher(), pairs=self.pairs, seeds=self.seeds
        )
        return simulated_datasets(recording, self.pool)

    def rows(self, device: str | None = None) -> pa.Table:
        return rows_together([self], device)[self.name]

    def measure(
        self, policies: Policies, datasets: Sequence[Demonstrations]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield means over the test starts, one row per seed and way of acting."""
        for e in evaluate_acts(policies, self.world, episodes=self.episodes, acts=self.acts):
            arrays = {"return": e.returns, "length": e.lengths} | dict(e.measures)
            for i, data in enumerate(datasets):
                means = {name: float(values[i].mean()) for name, values in arrays.items()}
                yield i, {"act": e.act, **means, "shown_return": data.mean_return}


def rows_together(
    cells: Sequence[SimulatedCell],
    device: str | None = None,
    names: Collection[str] | None = None,
) -> dict[str, pa.Table]:
    """Return the rows, by name, of cells that differ only in their demonstrations.

    They train as one stack, which takes a GPU little longer than one of them. Only the cells named
    in `names` are evaluated; by default all.
    """
    first = cells[0]
    training = first.training | {"seeds": [*range(first.seeds)] * len(cells)}
    with reproducible():
        datasets = [data for cell in cells for data in cell.datasets()]
        policies = train(datasets, device=device, progress=False, **training)
        tables = {}
        for i, cell in enumerate(cells):
            if names is None or cell.name in names:
                members = slice(i * first.seeds, (i + 1) * first.seeds)
                part = replace(policies[members], config=_config(policies, members, cells))
                tables[cell.name] = cell.table(part, datasets[members], 1 / len(cells))
    return tables


def _config(policies: Policies, members: slice, stack: Sequence[SimulatedCell]) -> dict[str, Any]:
    """Return the configuration of one cell of a stack, and the names of all cells in it."""
    config = policies.config
    config = config | {"members": config["members"][members], "data": config["data"][members]}
    return config | {"stack": [cell.name for cell in stack]}
