"""Recovering a function of one state from noisy examples of it (the paper's figure 3)."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from counterbc.acting.policies import Acting
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import Diverged, InfeasibleActions
from counterbc.experiments.cell import digest
from counterbc.experiments.simulated_cell import described, one_thread
from counterbc.settings import settings_for
from counterbc.trainer import train

Array = NDArray[Any]
NOISE = 0.5
AT = np.linspace(-1.0, 1.0, 201)
"""States at which learned functions are read off."""


def meant(state: Array) -> Array:
    """a* = |s| − 0.5."""
    return np.asarray(np.abs(state) - 0.5)


def examples(pairs: int, seed: int) -> Demonstrations:
    """(s, |s| − 0.5 + ε) with s ~ U(−1, 1) and ε ~ U(−0.5, 0.5), each pair an episode's step."""
    rng = np.random.default_rng(seed)
    state = rng.uniform(-1.0, 1.0, (pairs, 1))
    action = meant(state) + rng.uniform(-NOISE, NOISE, (pairs, 1))
    return Demonstrations(
        (Episode(state, action),), action_low=-np.ones(1), action_high=np.ones(1),
        source=f"|s| - 0.5, seed {seed}",
    )  # fmt: skip


@dataclass(frozen=True)
class RecoveryCell:
    """BC (radius None) or Counter-BC at one Δ, all seeds at once, each on examples of its own."""

    radius: float | None
    pairs: int = 100
    seeds: int = 50
    preset: str = "default"
    steps: int | None = None

    @property
    def about(self) -> dict[str, Any]:
        changes = {} if self.steps is None else {"steps": self.steps}
        return asdict(self) | {"steps": settings_for(self.preset, **changes).steps}

    @property
    def name(self) -> str:
        method = "bc" if self.radius is None else f"counter-bc-{self.radius:g}"
        return f"recovery-{self.pairs}-{method}-{digest(self.about)}"

    @property
    def work(self) -> float:
        return self.seeds * float(self.about["steps"]) * 30e-6  # as for populations

    def rows(self, device: str | None = None) -> pa.Table:
        """A row per seed: its mean action at the states `AT`, and how far it is from what."""
        data = [examples(self.pairs, seed) for seed in range(self.seeds)]
        given: dict[str, Any] = {"radius": self.radius, "steps": self.steps}
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore", InfeasibleActions)
            warnings.simplefilter("ignore", Diverged)
            policies = train(
                data, "bc" if self.radius is None else "counter-bc", seeds=self.seeds,
                preset=self.preset, device=device, progress=False,
                **{k: v for k, v in given.items() if v is not None},
            )  # fmt: skip
            acting = Acting(policies, [0], "mean", 0)
            learned = np.concatenate([_mean(acting, s) for s in AT], axis=1)  # (P, states)
        finished = {"finished": datetime.now(UTC).isoformat(), **policies.config["versions"]}
        finished |= {"train_seconds": policies.config["seconds"]}
        finished |= {"device": policies.config["device"]}
        rows = [
            {**self.about, "seed": m.seed, "fingerprint": m.fingerprint, "action": list(curve)}
            | distances(curve, d) | finished
            for m, curve, d in zip(policies.members, learned, data, strict=True)
        ]  # fmt: skip
        return described(pa.Table.from_pylist(rows), self.about, policies.config)


def _mean(acting: Acting, state: float) -> Array:
    """The mean action of every member at one state: (P, 1)."""
    seen = torch.full((len(acting.policies), 1, 1), state, dtype=torch.float32)
    return np.asarray(acting.actions(seen)[:, 0].double())


def variation(curve: Array) -> float:
    """How much the curve goes up and down: its total variation."""
    return float(np.abs(np.diff(curve)).sum())


def distances(curve: Array, data: Demonstrations) -> dict[str, float]:
    """Total variation of the curve; its RMS distance to the examples and to |s| − 0.5."""
    at_examples = np.interp(data.obs[:, 0], AT, curve)
    return {
        "variation": variation(curve),
        "to_examples": float(np.sqrt(np.mean((at_examples - data.action[:, 0]) ** 2))),
        "to_meant": float(np.sqrt(np.mean((curve - meant(AT)) ** 2))),
    }
