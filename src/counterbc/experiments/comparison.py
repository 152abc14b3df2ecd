"""Several methods on the same simulated demonstrations, tested from the same starts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from counterbc.acting.actor import ACTS, Act
from counterbc.acting.device import find_device
from counterbc.acting.evaluation import Evaluation, compare
from counterbc.acting.intervals import Interval, mean_interval
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import DEFAULT_TEACHER, NO_ERROR, Teacher, expert_return, returns
from counterbc.experiments.cell import check_counts, evaluate_acts
from counterbc.experiments.simulated_data import SimulatedData, simulated_datasets
from counterbc.experiments.workers import WorkerProgress, run_all
from counterbc.files import aside
from counterbc.methods import find_method
from counterbc.settings import settings_for
from counterbc.trainer import train
from counterbc.training.checks import warn_infeasible
from counterbc.training.progress import Progress


@dataclass(frozen=True)
class Comparison:
    """`methods` compared over `seeds` end-to-end runs; each run has its own demonstrations.

    Within a run all methods see the same pairs, the same initial weights where their shapes agree,
    and the same test starts.
    """

    world: str = "intersection"
    teacher: Teacher = DEFAULT_TEACHER
    pairs: int = 400
    pool: int = 0
    """Pairs that are recorded, of which `pairs` are drawn; see `simulated_datasets`."""
    methods: tuple[str, ...] = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")
    seeds: int = 10
    episodes: int = 100
    preset: str = "default"
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `Settings` that differ from the preset's."""
    device: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be computed before any work is done."""
        settings_for(self.preset, **self.changes)
        find_device(self.device)
        shards = max(find_method(m)[1].shards for m in self.methods)
        check_counts(self, pairs=shards, seeds=1, episodes=1)


@dataclass(frozen=True)
class SameStarts:
    """Returns of the demonstrations and of the expert from the starts of the demonstrations."""

    demonstrated: float
    expert: float
    difference: Interval
    """Demonstrations minus expert, paired by run."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """The result of a comparison."""

    comparison: Comparison
    evaluations: dict[tuple[str, Act], Evaluation]
    seconds: dict[str, float]
    """Training time of each method."""
    expert: float
    """Mean return of the expert from 1000 other starts."""
    same_starts: SameStarts

    @property
    def demonstrated(self) -> float:
        """Return the mean return of the demonstrations."""
        return self.same_starts.demonstrated

    def table(self) -> list[dict[str, Any]]:
        """Return one row per method and way of acting, with 95 % intervals and the gain over BC."""
        rows = []
        for (method, act), evaluation in self.evaluations.items():
            base = self.evaluations.get(("bc", act))
            row = {"method": method, "act": act, **asdict(evaluation.interval)}
            if base is not None and method != "bc":
                difference = compare(evaluation, base)
                row |= {"above_bc": asdict(difference.interval), "p": difference.p}
            rows.append(row | {"train_seconds": self.seconds[method]})
        return rows

    def write(self, path: Path) -> None:
        """Write every episode as a row of a Parquet file; its metadata hold the configuration."""
        columns: dict[str, list[Any]] = {
            n: [] for n in ("method", "act", "seed", "episode", "return", "length")
        }
        for (method, act), e in self.evaluations.items():
            members, episodes = e.returns.shape
            columns["method"] += [method] * e.returns.size
            columns["act"] += [act] * e.returns.size
            columns["seed"] += np.repeat(np.arange(members), episodes).tolist()
            columns["episode"] += np.tile(np.arange(episodes), members).tolist()
            columns["return"] += e.returns.ravel().tolist()
            columns["length"] += e.lengths.ravel().tolist()
        c = self.comparison
        about = {"comparison": asdict(c) | {"teacher": str(c.teacher)}, "expert": self.expert}
        about |= {"demonstrated": self.demonstrated, "train_seconds": self.seconds}
        table = pa.table(columns).replace_schema_metadata({"counterbc": json.dumps(about)})
        with aside(path) as temporary:
            pq.write_table(table, temporary)


def run(comparison: Comparison) -> Outcome:
    """Demonstrate, train and evaluate; the methods train side by side on the machine's cores."""
    c, datasets = comparison, demonstrations(comparison)
    warn_infeasible(datasets, settings_for(c.preset, **c.changes))
    results: dict[str, tuple[list[Evaluation], float]] = {}
    # The slow ones first, so that none of them runs last and alone.
    order = sorted(c.methods, key=_work, reverse=True)
    run_all({m: partial(_job, c, m, datasets) for m in order}, results.__setitem__)
    return Outcome(
        comparison=c,
        evaluations={(m, e.act): e for m in c.methods for e in results[m][0]},
        seconds={m: results[m][1] for m in c.methods},
        expert=expert_return(c.world, 1000, 0),
        same_starts=same_starts(c.world, c.teacher, [len(d) for d in datasets]),
    )


def _work(name: str) -> int:
    method = find_method(name)[1]
    return method.shards * method.rounds * method.policy.history


def demonstrations(comparison: Comparison) -> list[Demonstrations]:
    """Return one dataset per run."""
    c = comparison
    recording = SimulatedData(world=c.world, teacher=c.teacher, pairs=c.pairs, seeds=c.seeds)
    return simulated_datasets(recording, c.pool)


def same_starts(world: str, teacher: Teacher, episodes: Sequence[int]) -> SameStarts:
    """Return how a teacher and the expert do from the same starts; run k has episodes[k]."""
    demonstrated, expert = (
        np.array([returns(world, t, count, seed).mean() for seed, count in enumerate(episodes)])
        for t in (teacher, NO_ERROR)
    )
    difference = mean_interval(demonstrated - expert)
    return SameStarts(float(demonstrated.mean()), float(expert.mean()), difference)


def _job(
    comparison: Comparison, method: str, datasets: list[Demonstrations]
) -> tuple[list[Evaluation], float]:
    return train_and_evaluate(comparison, method, datasets, WorkerProgress(method))


def train_and_evaluate(
    comparison: Comparison,
    method: str,
    datasets: list[Demonstrations],
    progress: bool | Progress = True,
) -> tuple[list[Evaluation], float]:
    """Return the evaluations of one method, one per way of acting, and its training seconds."""
    c = comparison
    policies = train(
        datasets, method, seeds=c.seeds, preset=c.preset, device=c.device, progress=progress,
        **c.changes,
    )  # fmt: skip
    evaluations = evaluate_acts(policies, c.world, episodes=c.episodes, acts=ACTS)
    return evaluations, policies.config["seconds"]
