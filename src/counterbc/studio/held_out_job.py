"""The held-out predictions of a dataset for one lag, computed once, in a process of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc.data.arrays import Array
from counterbc.diagnosis.meaning import meaning
from counterbc.errors import OptionError
from counterbc.policies.gaussian import Gaussian
from counterbc.selection.held_out import HeldOut
from counterbc.studio.dataset_view import DatasetView
from counterbc.trainer import train

HELD_OUT = HeldOut(repeats=2, rounds=1, steps=1000)
"""Fewer policies than `counterbc score` trains: people wait for these."""
RADIUS = 0.2
"""Δ of the policies; the slider's Δ only limits how far a meant action may be."""
_LANDSCAPE_STEPS = 1000


@dataclass(frozen=True, eq=False)
class HeldOutResult:
    """What policies that did not see an episode say about its pairs, in the user's units."""

    lag: float
    predictions: Array
    """(R, N, A)"""
    scores: tuple[dict[str, Any], ...]
    operators: tuple[dict[str, Any], ...]
    verdict: str
    """How much of the actions can be predicted, in a sentence."""
    mean: Array | None
    """(N, A): the mean of a Counter-BC policy at each state, where actions span [−1, 1]."""
    std: Array | None
    """(N, A): its standard deviation."""


def predict_held_out(
    path: Path, lag: float, radius: float, report: Callable[[Any], None]
) -> HeldOutResult:
    """Train the held-out policies of a dataset, and one policy for its loss landscapes."""
    demos = DatasetView.open(path).demos
    if len(demos.obs_shape) > 1:
        raise OptionError(
            "held-out policies that read images take too long for this page; use counterbc score"
        )
    result = meaning(demos, radius=RADIUS, held_out=HELD_OUT, lag=lag, device="cpu", progress=False)
    report("scores")
    mean, std = _heads(demos, lag, radius)
    verdict = result.explained.verdict
    return HeldOutResult(
        lag=lag,
        predictions=np.asarray(result.predictions),
        scores=tuple(_score(s) for s in result.episodes),
        operators=tuple(_score(s) for s in result.operators),
        verdict=" ".join(f"{sentence}." for sentence in verdict),
        mean=mean,
        std=std,
    )


def _score(score: Any) -> dict[str, Any]:
    return {
        "name": score.name, "distance": score.distance, "low": score.low, "high": score.high,
        "episodes": score.episodes, "pairs": score.pairs, "noise": score.noise,
        "persistent": score.persistent, "bias": list(score.bias),
    }  # fmt: skip


def _heads(demos: Any, lag: float, radius: float) -> tuple[Array | None, Array | None]:
    """Return mean and standard deviation of a Counter-BC policy at each state: (N, A) each."""
    policies = train(
        demos, "counter-bc", radius=radius, lag=lag, steps=_LANDSCAPE_STEPS, ensemble=1,
        device="cpu", progress=False,
    )  # fmt: skip
    if not isinstance(policies.policy, Gaussian):
        return None, None
    windows, _ = policies.windows(demos, np.arange(len(demos.obs)))
    window = windows if policies.policy.history > 1 else windows.squeeze(2)
    with torch.no_grad():
        mean, log_std = policies.policy.head(policies.params, window)
    return mean[0].double().numpy(), log_std[0].exp().double().numpy()
