"""The held-out predictions of a dataset for each lag, computed once, in a process of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.diagnosis.meaning import meaning
from counterbc.policies.gaussian import Gaussian
from counterbc.selection.held_out import HeldOut
from counterbc.studio.dataset_view import read_episodes
from counterbc.trainer import train

HELD_OUT = HeldOut(repeats=2, rounds=1, steps=1000)
"""Fewer policies than `counterbc score` trains: people wait for these."""
RADIUS = 0.2
"""Δ of the policies; the slider's Δ only limits how far a meant action may be."""
_LANDSCAPE_STEPS = 1000
# Seconds, from 400 to 100,000 pairs with 10 and with 47 numbers each.
_START, _PER_PAIR, _PER_NUMBER = 12.0, 1e-4, 2e-6

Source = tuple[Path, str, Sequence[str] | None, Sequence[str]]
"""What `read_episodes` takes: a path, its format, observations and the names of episodes."""


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


def estimated_seconds(demos: Demonstrations) -> float:
    """Return how long the predictions take on one idle core, from what it took elsewhere."""
    numbers = demos.obs_shape[0] + demos.action_size
    return _START + len(demos.obs) * (_PER_PAIR + _PER_NUMBER * numbers)


def predict_held_out(
    source: Source, lags: Sequence[int], radius: float, report: Callable[[HeldOutResult], None]
) -> None:
    """Report what held-out policies predict for some episodes, one lag after the other."""
    demos = read_episodes(*source)
    for lag in lags:
        report(_predict(demos, float(lag), radius))


def _predict(demos: Demonstrations, lag: float, radius: float) -> HeldOutResult:
    """Train the held-out policies of a lag, and one policy for the loss landscapes."""
    result = meaning(demos, radius=RADIUS, held_out=HELD_OUT, lag=lag, device="cpu", progress=False)
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
