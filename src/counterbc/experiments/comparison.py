"""Several methods on the same demonstrations from the same starts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from counterbc.acting.device import find_device
from counterbc.acting.evaluation import Evaluation, compare
from counterbc.acting.policies import ACTS, Act
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import DEFAULT_TEACHER, Teacher, expert_return, returns
from counterbc.errors import OptionError
from counterbc.experiments.cell import evaluate_acts
from counterbc.experiments.simulated_data import Recording, simulated_datasets
from counterbc.experiments.workers import Reported, run_all
from counterbc.files import aside
from counterbc.methods import find_method
from counterbc.settings import settings_for
from counterbc.trainer import train
from counterbc.training.checks import warn_infeasible
from counterbc.training.progress import Progress


@dataclass(frozen=True)
class Comparison:
    """What is compared: `methods` over `seeds` end-to-end runs, each on demonstrations of its own.

    Within a run all methods see the same pairs, the same starting weights where their shapes agree,
    and the same test starts.
    """

    world: str = "intersection"
    teacher: Teacher = DEFAULT_TEACHER
    pairs: int = 400
    pool: int = 0
    """How many pairs are recorded, of which `pairs` are drawn at random, as the paper does; 0: just
    `pairs` are recorded, one episode after the other."""
    methods: tuple[str, ...] = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")
    seeds: int = 10
    episodes: int = 100
    preset: str = "default"
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `Settings` that differ from the preset's."""
    device: str | None = None

    def __post_init__(self) -> None:
        """Refuse before any work what would be refused after some of it."""
        settings_for(self.preset, **self.changes)
        find_device(self.device)
        shards = max(find_method(m)[1].shards for m in self.methods)
        for name, least in (("pairs", shards), ("seeds", 1), ("episodes", 1)):
            if getattr(self, name) < least:
                raise OptionError(f"{name} is {getattr(self, name)}; it must be {least} or more")


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of it."""

    comparison: Comparison
    evaluations: dict[tuple[str, Act], Evaluation]
    seconds: dict[str, float]
    expert: float
    """The expert's mean return, without noise."""
    demonstrated: float
    """The demonstrations' own mean return."""

    def table(self) -> list[dict[str, Any]]:
        """One row per method and way of acting, with 95 % intervals and the gain over BC."""
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
        """Every episode as a row of a Parquet file, the configuration in its metadata."""
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
    """Demonstrate, train and evaluate; the methods side by side on the machine's cores."""
    datasets = demonstrations(comparison)
    settings = settings_for(comparison.preset, **comparison.changes)
    warn_infeasible(datasets, settings)
    found: dict[str, tuple[list[Evaluation], float]] = {}
    # The slow ones first, so that they do not run last and alone.
    order = sorted(comparison.methods, key=_work, reverse=True)
    run_all({m: partial(_job, comparison, m, datasets) for m in order}, found.__setitem__)
    return outcome(comparison, datasets, found)


def _work(name: str) -> int:
    method = find_method(name)[1]
    return method.shards * method.rounds * method.policy.history


def demonstrations(comparison: Comparison) -> list[Demonstrations]:
    """Return one dataset per run."""
    c = comparison
    recording = Recording(world=c.world, teacher=c.teacher, pairs=c.pairs, seeds=c.seeds)
    return simulated_datasets(recording, c.pool)


def outcome(
    comparison: Comparison,
    datasets: list[Demonstrations],
    found: Mapping[str, tuple[list[Evaluation], float]],
) -> Outcome:
    """Everything together, with the two returns that bound a learner's."""
    c = comparison
    shown = [returns(c.world, c.teacher, len(d), seed).mean() for seed, d in enumerate(datasets)]
    return Outcome(
        comparison,
        {(m, e.act): e for m in comparison.methods for e in found[m][0]},
        {m: found[m][1] for m in comparison.methods},
        expert_return(comparison.world, 1000, 0),
        float(np.mean(shown)),
    )


def _job(
    comparison: Comparison, method: str, datasets: list[Demonstrations]
) -> tuple[list[Evaluation], float]:
    return train_and_evaluate(comparison, method, datasets, Reported(method))


def train_and_evaluate(
    comparison: Comparison,
    method: str,
    datasets: list[Demonstrations],
    progress: bool | Progress = True,
) -> tuple[list[Evaluation], float]:
    """One method, both ways of acting; and the seconds its training took."""
    c = comparison
    policies = train(
        datasets, method, seeds=c.seeds, preset=c.preset, device=c.device, progress=progress,
        **c.changes,
    )  # fmt: skip
    evaluations = evaluate_acts(policies, c.world, episodes=c.episodes, acts=ACTS)
    return evaluations, policies.config["seconds"]
