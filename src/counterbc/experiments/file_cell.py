"""A cell that learns from demonstrations in a file and is tested in an environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from counterbc.acting.fit import Spaces, reason_not_tested
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.envs import find_id, reason_not_made
from counterbc.errors import OptionError
from counterbc.experiments.cell import (
    SEARCH_NETWORKS,
    WorldCell,
    check_counts,
    check_data,
    evaluate_acts,
    uses_search,
)
from counterbc.experiments.file_data import ALL, Subset, content_hash, default_obs, load_file
from counterbc.experiments.text import join_value
from counterbc.formats.guard import check_there
from counterbc.methods import find_method

STEP_SECONDS = 100e-6  # of one network on one core


@dataclass(frozen=True, kw_only=True)
class FileCell(WorldCell):
    """One method on one subset of a file, with all its seeds.

    Seed k learns from pairs and is tested from starts that depend on k and not on the method. The
    file may be in any supported format. Its contents count, its name does not.
    """

    file: Path
    subset: Subset = ALL
    obs: tuple[str, ...] = ()
    """Observation keys to read; by default those that the environment observes, else all that are
    not images."""
    action: tuple[str, ...] = ()
    """Keys of the action, if the file does not name it action or actions."""
    cleaned: bool = False
    """Learn from the cleaned actions instead of the demonstrated ones."""
    seeds: int = 5
    episodes: int = 50

    def __post_init__(self) -> None:
        """Refuse what cannot be computed before any work is done."""
        self.check_world()
        check_there(self.file)
        check_counts(self, seeds=1, episodes=1)
        self.settings.apply(find_method(self.method)[1])

    def check_world(self) -> None:
        """Refuse an environment that does not exist."""
        if self.world is None:
            raise OptionError("a FileCell needs a world; without one, use HeldOutCell")
        if find_id(self.world) in gymnasium.registry:  # others are made only to explain them
            return
        if problem := reason_not_made(self.world, is_typed=True):
            raise OptionError(problem)

    @property
    def obs_keys(self) -> tuple[str, ...]:
        """Return the observation keys that are read; none stands for all that are not images."""
        return self.obs or default_obs(self.file, self.action, self.world)

    @property
    def demos(self) -> Demonstrations:
        """Return all demonstrations of the file."""
        return load_file(self.file, self.obs_keys, self.action)

    @property
    def note(self) -> str:
        if self.obs or not self.obs_keys:
            return ""
        env = self.world or "the environment that it names"
        keys = " and ".join(self.obs_keys)
        return (
            f"Of {self.file.name}, reads {keys}, as {env} does; obs in the grid chooses other "
            "observations."
        )

    @property
    def about(self) -> dict[str, Any]:
        about = super().about | {"data": content_hash(self.file)}
        about |= {"subset": self.subset.about, "obs": self.obs_keys}
        del about["file"]
        if not self.action:  # so that the names of cells are those from before there was a choice
            del about["action"]
        return about

    @property
    def label(self) -> str:
        """Return the method with its Δ and the settings that differ, as tables show it."""
        radius = "" if self.radius is None else f"-{join_value(self.radius)}"
        words = [f"{k}-{join_value(v)}" for k, v in self.changes.items()]
        return "-".join([f"{self.method}{radius}", *words, *(["cleaned"] if self.cleaned else [])])

    @property
    def title(self) -> str:
        title = f"{self.world or 'held-out'}-{self.subset}-{self.label}"
        return title.replace("%", "").replace("/", "-").replace(":", "-")

    @property
    def work(self) -> float:
        method = self.settings.apply(find_method(self.method)[1])
        networks = self.seeds * method.shards * method.rounds * method.policy.history
        if uses_search(self.settings, method) or self.cleaned:
            networks += SEARCH_NETWORKS * (self.seeds if self.subset.random else 1)
        return networks * float(self.settings.step_count) * STEP_SECONDS

    @property
    def columns(self) -> dict[str, Any]:
        columns = super().columns
        # Text, so that the rows of all cells have columns of the same types.
        texts = {name: join_value(columns[name]) for name in ("radius", "changes", "obs")}
        columns.pop("action", None)
        return columns | {"label": self.label, "subset": str(self.subset)} | texts

    def check(self) -> None:
        demos = self.subset.of(self.demos, 0)
        check_data(self.method, self.settings, demos)
        if self.world is None:
            return
        if problem := reason_not_tested(self.world, Spaces.of_data(demos), is_typed=True):
            raise OptionError(
                f"{self.file.name}: {problem}; in a grid, obs names the observations to read and "
                "env the environment"
            )

    def datasets(self, device: str | None = None) -> list[Demonstrations]:
        demos = self.demos
        seeds = range(self.seeds if self.subset.random else 1)
        return self.clean([self.subset.of(demos, k) for k in seeds], device)

    def clean(self, datasets: list[Demonstrations], device: str | None) -> list[Demonstrations]:
        """Return the datasets with cleaned actions where `cleaned` asks for them."""
        if not self.cleaned:
            return datasets
        from counterbc.diagnosis.meaning import meaning

        # Radius, lag and offsets belong to the training, not to the cleaning.
        changes = {k: v for k, v in self.overrides.items() if k != "radius"}
        changes |= {"lag": 0.0, "offsets": "none"}
        return [meaning(d, device=device, progress=False, **changes).cleaned for d in datasets]

    def measure(
        self, policies: Policies, datasets: Sequence[Demonstrations]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield means over the test starts and their counts, per seed and way of acting."""
        world, data = str(self.world), policies.run_config.data
        for e in evaluate_acts(policies, world, episodes=self.episodes, acts=self.acts):
            arrays = {"return": e.returns, "length": e.lengths} | dict(e.measures)
            for i, member in enumerate(policies.members):
                row: dict[str, Any] = {"act": e.act, "pairs": data[member.dataset]["pairs"]}
                row |= {"radius_used": [float(r) for r in member.radius]}
                for name, values in arrays.items():
                    finite = values[i][np.isfinite(values[i])]
                    row[name] = float(finite.mean()) if len(finite) else np.nan
                    row[f"{name}_count"] = len(finite)
                yield i, row
