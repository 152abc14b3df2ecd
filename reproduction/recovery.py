"""Recovering a function of one state from noisy examples of it (the paper's figure 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from counterbc.acting.actor import Acting
from counterbc.acting.policies import Policies
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.experiments.cell import Cell
from counterbc.experiments.text import join_value

NOISE = 0.5
AT = np.linspace(-1.0, 1.0, 201)
"""States at which learned functions are read off."""


def intended_action(state: Array) -> Array:
    """Return a* = |s| − 0.5."""
    return np.asarray(np.abs(state) - 0.5)


def examples(pairs: int, seed: int) -> Demonstrations:
    """(s, |s| − 0.5 + ε) with s ~ U(−1, 1) and ε ~ U(−0.5, 0.5), each pair an episode's step."""
    rng = np.random.default_rng(seed)
    state = rng.uniform(-1.0, 1.0, (pairs, 1))
    action = intended_action(state) + rng.uniform(-NOISE, NOISE, (pairs, 1))
    return Demonstrations(
        (Episode(state, action),), action_low=-np.ones(1), action_high=np.ones(1),
        source=f"|s| - 0.5, seed {seed}",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RecoveryCell(Cell):
    """BC (radius None) or Counter-BC at one Δ; each seed learns from its own examples."""

    pairs: int = 100
    seeds: int = 50

    @property
    def about(self) -> dict[str, Any]:
        unused = ("method",) if self.changes else ("method", "changes")
        about = asdict(self) | {"steps": self.settings.step_count}
        return {k: v for k, v in about.items() if k not in unused}

    @property
    def title(self) -> str:
        radius = "" if self.radius is None else f"-{join_value(self.radius)}"
        return f"recovery-{self.pairs}-{self.method}{radius}"

    @property
    def work(self) -> float:
        return self.seeds * float(self.about["steps"]) * 30e-6  # as for simulated cells

    def datasets(self, device: str | None = None) -> list[Demonstrations]:
        return [examples(self.pairs, seed) for seed in range(self.seeds)]

    def table(
        self, policies: Policies, datasets: Sequence[Demonstrations], share: float = 1.0
    ) -> pa.Table:
        # The archived rows do not have these columns.
        return super().table(policies, datasets, share).drop_columns(["dtype", "test_seconds"])

    def measure(
        self, policies: Policies, datasets: Sequence[Demonstrations]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield each seed's deterministic action at the states `AT`, and its distances."""
        acting = Acting(policies, [0], "mean", 0)
        curves = np.concatenate([_mean(acting, s) for s in AT], axis=1)  # (P, states)
        for i, (curve, data) in enumerate(zip(curves, datasets, strict=True)):
            yield i, {"action": list(curve)} | distances(curve, data)


def _mean(acting: Acting, state: float) -> Array:
    """Return the mean action (P, 1) of every member at one state."""
    states = torch.full((len(acting.policies.seeds), 1, 1), state, dtype=torch.float32)
    return np.asarray(acting.actions(states)[:, 0].double())


def variation(curve: Array) -> float:
    """Return the total variation of a curve."""
    return float(np.abs(np.diff(curve)).sum())


def distances(curve: Array, data: Demonstrations) -> dict[str, float]:
    """Total variation of the curve; its RMS distance to the examples and to |s| − 0.5."""
    at_examples = np.interp(data.obs[:, 0], AT, curve)
    return {
        "variation": variation(curve),
        "to_examples": float(np.sqrt(np.mean((at_examples - data.action[:, 0]) ** 2))),
        "to_meant": float(np.sqrt(np.mean((curve - intended_action(AT)) ** 2))),
    }
