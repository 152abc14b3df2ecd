"""The unit of work of a study: one method on one kind of demonstrations, with all its seeds."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

import pyarrow as pa

from counterbc.acting.act import ACTS, Act
from counterbc.acting.evaluation import Evaluation, evaluate
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.needs import check_needs
from counterbc.envs import WORLDS
from counterbc.errors import Diverged, InfeasibleActions, OptionError
from counterbc.kernels.threads import one_thread
from counterbc.methods import Method, find_method
from counterbc.selection.radius import DoubtfulRadius, RadiusSearch
from counterbc.settings import Settings, settings_for
from counterbc.supports import Demonstrated
from counterbc.trainer import train
from counterbc.training.progress import Progress

TIMING_COLUMNS = ("train_seconds", "test_seconds", "finished")
"""Columns that differ when the same cell is computed again."""

SEARCH_NETWORKS = 15  # choosing Δ for one dataset takes as long as training this many networks


@dataclass(frozen=True, kw_only=True)
class Cell(ABC):
    """A cell of a study: it is finished as a whole, or computed again as a whole.

    A subclass says which demonstrations it learns from, how it trains and what it measures.
    """

    method: str
    seeds: int
    preset: str = "default"
    radius: float | tuple[float, ...] | Literal["auto"] | None = None
    """Δ; None for methods that do not use one, or for the preset's."""
    steps: int | None = None
    """Gradient steps; None for the preset's."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of `Settings` that differ from the preset's."""

    @property
    @abstractmethod
    def about(self) -> dict[str, Any]:
        """Return everything that decides the rows, except device and versions."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Return the readable part of the name."""

    @property
    @abstractmethod
    def work(self) -> float:
        """Return the approximate seconds of training on one core."""

    @abstractmethod
    def datasets(self, device: str | None = None) -> Sequence[Demonstrations]:
        """Return one dataset per seed, or a single one that all seeds share."""

    @abstractmethod
    def measure(
        self, policies: Policies, datasets: Sequence[Demonstrations]
    ) -> Iterable[tuple[int, dict[str, Any]]]:
        """Yield for every row the number of its member and the columns that were measured."""

    @property
    def name(self) -> str:
        """Return the file name: readable, and different for every other cell."""
        return f"{self.title}-{digest(self.about)}"

    @property
    def note(self) -> str:
        """Return what a person should know before the work, as a sentence; empty if nothing."""
        return ""

    @property
    def overrides(self) -> dict[str, Any]:
        """Return the settings that differ from the preset's."""
        numbers = {"radius": self.radius, "steps": self.steps}
        return {k: v for k, v in numbers.items() if v is not None} | dict(self.changes)

    @property
    def settings(self) -> Settings:
        """Return the settings of the training."""
        return settings_for(self.preset, **self.overrides)

    @property
    def training(self) -> dict[str, Any]:
        """Return the arguments of `train` beside the demonstrations: method, seeds, settings.

        Studies fix what `train` would choose by itself, except Δ, unless they say otherwise. Δ is
        chosen as `choose_radius` does, like the rows of earlier versions.
        """
        numbers = {"method": self.method, "seeds": self.seeds, "preset": self.preset}
        fixed = {"lag": 0.0, "offsets": "none", "steps": self.settings.step_count, "ensemble": 1}
        return numbers | fixed | self.overrides

    def check(self) -> None:  # noqa: B027  # most cells make their own data and need no check
        """Refuse, before any training, data that the method or the test cannot use."""

    @property
    def columns(self) -> dict[str, Any]:
        """Return the columns that all rows of this cell share."""
        return self.about

    def rows(self, device: str | None = None, progress: bool | Progress = False) -> pa.Table:
        """Train, evaluate and return the rows, with `about` in the table's metadata."""
        return compute_rows([self], device, progress=progress)[self.name]

    def table(
        self, policies: Policies, datasets: Sequence[Demonstrations], share: float = 1.0
    ) -> pa.Table:
        """Return the rows of trained policies; `share` is this cell's part of the training time."""
        config, began = policies.run_config, time.perf_counter()
        measurements = list(self.measure(policies, datasets))
        constant = {
            "device": config.device,
            "dtype": config.dtype,
            **{n: v for n, v in config.versions.items() if v is not None},
            "train_seconds": round(share * (config.seconds or 0.0), 3),
            "test_seconds": round(time.perf_counter() - began, 3),
            "finished": datetime.now(UTC).isoformat(),
        }
        rows = [
            {**self.columns, "seed": member.seed, **values, "fingerprint": member.fingerprint}
            | constant
            for i, values in measurements
            for member in [policies.members[i]]
        ]
        about = json.dumps({"cell": self.about, "config": policies.config})
        return pa.Table.from_pylist(rows).replace_schema_metadata({"counterbc": about})


@dataclass(frozen=True, kw_only=True)
class WorldCell(Cell):
    """A cell whose policies are tested in a world."""

    world: str | None
    episodes: int
    """Test starts of each seed."""
    acts: tuple[Act, ...] = ACTS
    """Ways of acting that are tested: one where a world is slow."""

    @property
    def about(self) -> dict[str, Any]:
        about = asdict(self) | {"steps": self.settings.step_count}
        if self.acts == ACTS:
            del about["acts"]
        return about

    @property
    def columns(self) -> dict[str, Any]:
        return {k: v for k, v in self.about.items() if k != "acts"}

    @property
    def performance(self) -> str:
        """Return the column that counts as performance in this world."""
        facts = WORLDS.get(str(self.world))
        return (facts and facts.measure) or "return"


def compute_rows(
    cells: Sequence[Cell],
    device: str | None = None,
    names: Collection[str] | None = None,
    progress: bool | Progress = False,
) -> dict[str, pa.Table]:
    """Return the rows, by name, of cells that differ only in their demonstrations.

    They train as one stack, which takes a GPU little longer than one of them. Only the cells named
    in `names` are evaluated; by default all.
    """
    training, seeds = cells[0].training, cells[0].seeds
    if len(cells) > 1:
        training = training | {"seeds": [*range(seeds)] * len(cells)}
    tables = {}
    with reproducible():
        datasets = [cell.datasets(device) for cell in cells]
        if len(cells) > 1:  # seeds that share a dataset have one each in a stack
            datasets = [[*group] * (seeds // len(group)) for group in datasets]
        policies = train(
            [d for group in datasets for d in group], device=device, progress=progress,
            search=RadiusSearch(), **training,
        )  # fmt: skip
        size = len(policies) // len(cells)
        for i, cell in enumerate(cells):
            if names is None or cell.name in names:
                part = _part(policies, slice(i * size, (i + 1) * size), cells)
                tables[cell.name] = cell.table(part, datasets[i], 1 / len(cells))
    return tables


def _part(policies: Policies, members: slice, stack: Sequence[Cell]) -> Policies:
    """Return the policies of one cell of a stack, with the numbers of its own datasets."""
    part, config = policies[members], policies.run_config
    numbers = sorted({member.dataset for member in part.members})
    config = replace(
        config,
        members=config.members[members],
        data=[config.data[n] for n in numbers],
        stack=[cell.name for cell in stack],
    )
    renumbered = [replace(m, dataset=numbers.index(m.dataset)) for m in part.members]
    return replace(part, members=tuple(renumbered), config=config.as_dict())


def uses_search(settings: Settings, method: Method) -> bool:
    """Return whether the training chooses a radius from the data."""
    return settings.radius == "auto" and not isinstance(method.support, Demonstrated)


def check_data(method: str, settings: Settings, demos: Demonstrations) -> None:
    """Refuse data that do not record what a method needs, such as operators."""
    definition = settings.apply(find_method(method)[1], demos.obs_shape, image=demos.image)
    check_needs([demos], definition.weighting.needs)


def digest(about: dict[str, Any]) -> str:
    """Return eight characters that differ where anything that decides the rows differs."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:8]


def check_counts(value: Any, **minimum: int) -> None:
    """Refuse a field that is below its minimum."""
    for name, bound in minimum.items():
        if getattr(value, name) < bound:
            raise OptionError(f"{name} is {getattr(value, name)}; it must be {bound} or more")


def evaluate_acts(
    policies: Policies, world: str, *, episodes: int, acts: Sequence[Act]
) -> list[Evaluation]:
    """Return one evaluation for each way of acting."""
    return [evaluate(policies, world, episodes=episodes, act=a, progress=False) for a in acts]


@contextmanager
def reproducible() -> Iterator[None]:
    """Use one thread, so that every machine computes the same bits, and silence known warnings.

    The rows contain what these warnings report: the radius, the data's hash and NaN returns.
    """
    with one_thread(), warnings.catch_warnings():
        for warning in (InfeasibleActions, Diverged, DoubtfulRadius):
            warnings.simplefilter("ignore", warning)
        yield
