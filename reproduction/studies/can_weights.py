"""How many pairs of a batch the weights of Weighted-BC and BCND leave in effect, in Can.

The number is 1 / Σ w², averaged over 200 batches of the default size. The weights are those that
training ended with; for BCND, those that a next round would start with.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

import counterbc as cb
from counterbc.weightings.weighting import Batch
from reproduction.options import StudyOptions, option
from reproduction.records import computed_with, kernels_of, update


@dataclass(frozen=True, kw_only=True)
class CanWeightsOptions(StudyOptions):
    """Measure how many pairs the weights of two methods leave in effect."""

    data: Path = option(Path("can_synthetic_mh_300.hdf5"), "file of demonstrations")
    steps: int = 10_000
    device: str | None = None


def run(options: CanWeightsOptions) -> None:
    """Train both methods and write the numbers."""
    demos, effective = cb.load(options.data), dict[str, float]()
    trainings = []
    size = cb.Settings.largest_batch
    for method in ("weighted-bc", "bcnd"):
        policies = cb.train(demos, method, seeds=[0], steps=options.steps, device=options.device)
        trainings.append(policies)
        effective[method] = round(effective_pairs(policies, method, demos, size), 1)
    numbers = {"pairs in a batch": size, "steps": options.steps, "in effect": effective}
    print(json.dumps(numbers))
    origin = computed_with(options.device, kernels_of(*trainings))
    update(options.numbers("can"), weights=numbers | origin)


def effective_pairs(
    policies: cb.Policies, method: str, demos: cb.Demonstrations, size: int
) -> float:
    """Return the mean of 1 / Σ w² over 200 random batches."""
    rng, effective = np.random.default_rng(0), []
    weighting, shards = cb.METHODS[method].weighting, policies.shards
    for _ in range(200):
        batch_indices = rng.integers(demos.pairs, size=size)
        obs = policies.scales.obs(torch.tensor(demos.obs[batch_indices], dtype=torch.float32)[None])
        act = policies.scales.action(
            torch.tensor(demos.action[batch_indices], dtype=torch.float32)[None]
        )
        head = policies.policy.head(policies.params, obs.expand(shards, -1, -1))
        log_pi = policies.policy.log_prob(head, act.unsqueeze(2).expand(shards, -1, -1, -1))
        batch = Batch(obs, obs, act, {"log_pi_prev": log_pi[..., 0].mT[None]})
        w = weighting.weights(policies.weighting_params, batch, log_pi[:1])
        effective.append(float(1 / (w / w.sum()).square().sum()))
    return float(np.mean(effective))
