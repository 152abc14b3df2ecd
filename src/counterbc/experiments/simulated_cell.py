"""One point of a study's grid with all its seeds: demonstrate, train, evaluate, rows."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import torch

from counterbc.acting.evaluation import Evaluation, evaluate
from counterbc.acting.policies import ACTS, Policies
from counterbc.demonstrators import NOISES, find_teacher
from counterbc.envs import WORLDS
from counterbc.errors import Diverged, InfeasibleActions, OptionError, unknown
from counterbc.experiments.cell import digest
from counterbc.experiments.comparison import Comparison, demonstrations
from counterbc.methods import find_method
from counterbc.policies import GaussianGRU
from counterbc.settings import settings_for
from counterbc.trainer import train

PASSING = ("train_seconds", "test_seconds", "finished")
"""Columns that differ when the same population is done again."""
MOST = 10_000_000  # pairs that are recorded at most


@dataclass(frozen=True)
class SimulatedCell:
    """One method on one kind of demonstrations, all seeds at once: finished, or done again whole.

    Seed k learns from demonstrations and is tested from starts that depend on k and not on the
    method, so within a run all methods see the same.
    """

    world: str
    teacher: str
    """A noise (uniform, gaussian, epsilon-greedy), or a human-like teacher by name."""
    sigma: float | None
    """How much a noise errs; None for human-like teachers."""
    pairs: int
    method: str
    radius: float | None
    """Δ; None for methods that do not use one."""
    pool: int = 0
    """As in `Comparison`."""
    seeds: int = 50
    episodes: int = 100
    preset: str = "default"
    steps: int | None = None
    """Gradient steps; None: the preset's."""

    def comparison(self, device: str | None = None) -> Comparison:
        """The same as a comparison of one method, which also checks every number."""
        if self.world not in WORLDS:
            raise unknown("world", self.world, WORLDS)
        if self.pool and not self.pairs <= self.pool <= MOST:
            raise OptionError(f"pool is {self.pool}; it must be {self.pairs} to {MOST}, or 0")
        noise = self.teacher if self.teacher in NOISES else None
        teacher = find_teacher(None if noise else self.teacher, noise, self.sigma)
        given = {"radius": self.radius, "steps": self.steps}
        return Comparison(
            self.world, teacher, self.pairs, self.pool, (self.method,), self.seeds, self.episodes,
            self.preset, {k: v for k, v in given.items() if v is not None}, device,
        )  # fmt: skip

    @property
    def about(self) -> dict[str, Any]:
        """Everything that decides the result, but for device and versions."""
        changes = {} if self.steps is None else {"steps": self.steps}
        return asdict(self) | {"steps": settings_for(self.preset, **changes).steps}

    @property
    def name(self) -> str:
        """What its file is called: readable, and different for every other population."""
        sigma = "" if self.sigma is None else f"-{self.sigma:g}"
        radius = "" if self.radius is None else f"-{self.radius:g}"
        named = f"{self.world}-{self.teacher}{sigma}-{self.pairs}-{self.method}{radius}"
        return f"{named}-{digest(self.about)}"

    @property
    def work(self) -> float:
        """Seconds of training on one core, roughly: for the order and the time left."""
        method = find_method(self.method)[1]
        networks = self.seeds * method.shards * method.rounds
        batch = settings_for(self.preset).batch_size(max(1, self.pairs // method.shards))
        gates = 3 if isinstance(method.policy, GaussianGRU) else 1
        microseconds = method.policy.history * gates * (20 + batch)
        return networks * float(self.about["steps"]) * microseconds * 1e-6

    def rows(self, device: str | None = None) -> pa.Table:
        """A row per seed and way of acting: means over the test starts."""
        return rows_together([self], device)[self.name]

    def _table(self, policies: Policies, shown: list[float | None], share: float) -> pa.Table:
        """Test the policies; `share` of the seconds of their training were theirs."""
        began = time.perf_counter()
        evaluations = [
            evaluate(policies, self.world, episodes=self.episodes, act=act, progress=False)
            for act in ACTS
        ]
        tested = time.perf_counter() - began
        made = [self._row(policies, s, e, i) for e in evaluations for i, s in enumerate(shown)]
        passing = {
            "train_seconds": round(share * policies.config["seconds"], 3),
            "test_seconds": round(tested, 3),
            "finished": datetime.now(UTC).isoformat(),
        }
        table = pa.Table.from_pylist([row | passing for row in made])
        return described(table, self.about, policies.config)

    def _row(
        self, policies: Policies, shown: float | None, evaluation: Evaluation, i: int
    ) -> dict[str, Any]:
        config, member = policies.config, policies.members[i]
        row: dict[str, Any] = {**self.about, "seed": member.seed, "act": evaluation.act}
        row["return"] = float(evaluation.returns[i].mean())
        row["length"] = float(evaluation.lengths[i].mean())
        row |= {name: float(values[i].mean()) for name, values in evaluation.measures.items()}
        row |= {"shown_return": shown, "fingerprint": member.fingerprint}
        return row | {"device": config["device"], "dtype": config["dtype"], **config["versions"]}


def rows_together(
    populations: Sequence[SimulatedCell],
    device: str | None = None,
    wanted: Collection[str] | None = None,
) -> dict[str, pa.Table]:
    """The rows, by name, of populations that differ in their demonstrations alone.

    They train as one stack, which a GPU does in little more than the time of one of them. Only
    those named in `wanted` are tested; by default all.
    """
    comparisons = [p.comparison(device) for p in populations]
    first, asked = populations[0], comparisons[0]
    with one_thread(), warnings.catch_warnings():
        # The rows say both: what was shown is in the hash, who diverged has a NaN return.
        warnings.simplefilter("ignore", InfeasibleActions)
        warnings.simplefilter("ignore", Diverged)
        datasets = [data for c in comparisons for data in demonstrations(c)]
        policies = train(
            datasets, first.method, seeds=[*range(first.seeds)] * len(populations),
            preset=first.preset, device=device, progress=False, **asked.changes,
        )  # fmt: skip
        tables = {}
        for i, population in enumerate(populations):
            if wanted is None or population.name in wanted:
                own = slice(i * first.seeds, (i + 1) * first.seeds)
                part = replace(policies[own], config=_config(policies, own, populations))
                shown = [data.mean_return for data in datasets[own]]
                tables[population.name] = population._table(part, shown, 1 / len(populations))
    return tables


def _config(policies: Policies, own: slice, stack: Sequence[SimulatedCell]) -> dict[str, Any]:
    """What one population of a stack was trained with, and beside which others."""
    config = policies.config
    config = config | {"members": config["members"][own], "data": config["data"][own]}
    return config | {"stack": [p.name for p in stack]}


def described(table: pa.Table, about: dict[str, Any], config: dict[str, Any]) -> pa.Table:
    """The table with what it is and what it was made with in its metadata."""
    said = json.dumps({"population": about, "config": config})
    return table.replace_schema_metadata({"counterbc": said})


@contextmanager
def one_thread() -> Iterator[None]:
    """The same bits wherever a population is computed, and as many populations as cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
