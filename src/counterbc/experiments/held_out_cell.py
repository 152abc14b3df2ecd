"""A cell that learns from a file and is tested on held-out episodes, without an environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from counterbc.acting.actor import Acting
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.obs_rows import obs_rows
from counterbc.errors import OptionError
from counterbc.experiments.file_cell import FileCell


@dataclass(frozen=True, kw_only=True)
class HeldOutCell(FileCell):
    """One method on one subset of a file; each seed holds out whole episodes to test on."""

    test_share: float = 0.2
    """Share of the episodes that each seed holds out."""

    def check_world(self) -> None:
        if self.world is not None:
            raise OptionError(f"world is {self.world!r}; a HeldOutCell has none, use FileCell")
        if not 0 < self.test_share < 1:
            raise OptionError(f"test_share is {self.test_share}; it must be above 0 and below 1")

    @property
    def about(self) -> dict[str, Any]:
        unused = ("world", "episodes", "acts")
        return {k: v for k, v in super().about.items() if k not in unused}

    @property
    def performance(self) -> str:
        """Return the column that counts as performance; less is better."""
        return "held_out_error"

    def split(self, seed: int) -> tuple[Demonstrations, Demonstrations]:
        """Return the training data and the held-out episodes of a seed."""
        demos = self.subset.episodes(self.demos, seed)
        training, test = demos.split(self.test_share, seed)
        return self.subset.sample(training, seed), test

    def datasets(self, device: str | None = None) -> list[Demonstrations]:
        return self.clean([self.split(seed)[0] for seed in range(self.seeds)], device)

    def measure(
        self, policies: Policies, datasets: Sequence[Demonstrations]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the held-out error of each seed."""
        for i, member in enumerate(policies.members):
            test = self.split(member.seed)[1]
            row: dict[str, Any] = {"act": "mean", "pairs": datasets[i].pairs}
            row |= {"radius_used": [float(r) for r in member.radius]}
            error = held_out_error(policies[i], test)
            yield i, row | {"held_out_error": error, "held_out_pairs": test.pairs}


def held_out_error(policy: Policies, test: Demonstrations) -> float:
    """Return the mean squared error of one member's deterministic action on whole episodes.

    Each action dimension spans [−1, 1]. NaN if the member diverged.
    """
    half_range = (policy.scales.action_high - policy.scales.action_low)[0].double().numpy() / 2
    actions = deterministic_actions(policy, test)
    error = (actions - test.action) / half_range  # (N, A)
    return float((error[test.learned] ** 2).mean())


def deterministic_actions(policy: Policies, demos: Demonstrations) -> np.ndarray[Any, Any]:
    """Return one member's deterministic action at every pair, with the memory it has: (N, A).

    All episodes advance together, one step at a time; a finished one repeats its last observation.
    """
    lengths = np.array([len(e) for e in demos.episodes])
    first = np.cumsum(lengths) - lengths
    acting = Acting(policy, range(len(lengths)), "mean", 0)
    actions = np.empty((len(lengths), lengths.max(), demos.action_size))
    for t in range(lengths.max()):
        obs = obs_rows(demos, first + np.minimum(t, lengths - 1))  # (E, …)
        with torch.no_grad():
            step = acting.actions(policy.tensor(obs)[None])[0]  # (E, A)
        actions[:, t] = step.double().cpu().numpy()
    return np.concatenate([actions[i, :n] for i, n in enumerate(lengths)])
