"""Check that an exported file acts as torch does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from counterbc.acting.act import Act
from counterbc.acting.actor import Acting
from counterbc.acting.encoder import split_rows
from counterbc.acting.observations import pixel_count
from counterbc.acting.onnx_session import Session
from counterbc.acting.policies import Policies
from counterbc.data import draws
from counterbc.data.packing import pack
from counterbc.data.scaling import Scaling

TOLERANCE = 1e-5
"""Largest difference allowed between the actions of file and torch, as a share of the range."""
_ROUNDING = 2.0**-22  # of float32, relative; two units in the last place
_COPIES = 3
_EVERY = 4  # of the vectors is tried beside images, which take longer


@dataclass(frozen=True)
class Parity:
    """The comparison of a file with torch."""

    agrees: bool
    difference: float
    """The largest difference, in the action's units."""
    inputs: int
    """Number of inputs that were compared."""
    undecided: int
    """Number of inputs that were not, because rounding alone decides the action there."""


def check_parity(path: Path, policies: Policies, act: Act) -> Parity:
    """Act for a few steps from the start of an episode, with the file and with torch.

    On inputs far from the data a policy may change abruptly between two float32 numbers. So the
    policy also acts with its parameters rounded differently; where that alone changes the action,
    the input is undecided and does not count.
    """
    policy = policies.policy
    until = 0 if policy.average_chunks else policy.execute  # the second decision
    steps = _observations(policies, max(policy.history, until) + 2)  # (T, E, S) or (T, E, R)
    file = Session(path, steps.shape[1])
    acting = Acting(_rounded_otherwise(policies), range(steps.shape[1]), act, seed=0)
    tolerance = _tolerance(policies.scales)  # (A,)
    gaps = []
    for obs in steps:
        noise = torch.special.ndtri(acting.chances()[: policies.shards]).transpose(0, 1)
        action, *copies = acting.actions(obs.expand(1 + _COPIES, -1, -1)).numpy()  # (E, A) each
        spread = np.max([np.abs(copy - action) for copy in copies], axis=0)
        stable = (spread <= tolerance / 4).all(1)  # (E,)
        gaps.append(np.abs(file.act(_feeds(policies, obs), noise.numpy()) - action)[stable])
    gap, total = np.concatenate(gaps), steps.shape[0] * steps.shape[1]
    agrees = bool((gap <= tolerance).all()) and 2 * len(gap) > total  # nan does not agree
    return Parity(agrees, float(gap.max(initial=0)), len(gap), total - len(gap))


def probes(scales: Scaling, steps: int) -> torch.Tensor:
    """Return observations like the data's, and others far from them: (steps, E, S)."""
    mean, scale = scales.obs_mean, scales.obs_scale  # (1, S)
    g = draws.generator(0, "probes")
    size = mean.shape[1]

    def signs(rows: int) -> torch.Tensor:
        return torch.randint(2, (rows, size), generator=g) * 2.0 - 1

    def one_step() -> torch.Tensor:
        common_obs = [mean + k * scale * torch.randn(64, size, generator=g) for k in (1, 3)]
        flat = [torch.full((1, size), x) for x in (0.0, 1e3, -1e3, 1e6, -1e6)]
        extremes = [signs(8) * x for x in (1e3, 1e6)]
        single = [mean + torch.eye(size) * x for x in (1.0, -1e3)]  # also those that never varied
        return torch.cat([*common_obs, mean, *flat, *extremes, *single])

    return torch.stack([one_step() for _ in range(steps)])


def _observations(policies: Policies, steps: int) -> torch.Tensor:
    """Return observations of several episodes: (steps, E, S), or rows of bytes (steps, E, R)."""
    policy = policies.policy
    if not policy.images:
        return probes(policies.scales, steps)
    images = frames(pixel_count(policy), steps)
    if not policy.reads_vector:
        return images
    vectors = probes(policies.scales, steps)[:, ::_EVERY]
    index = torch.arange(vectors.shape[1]) % images.shape[1]
    return pack(images[:, index], vectors)


def _feeds(policies: Policies, rows: torch.Tensor) -> dict[str, NDArray[Any]]:
    """Return the inputs of a file from observations (E, S) or rows of bytes (E, R)."""
    if not policies.policy.images:
        return {"obs": rows.numpy()}
    parts = split_rows(policies.policy, rows.numpy())
    feeds = dict(zip(policies.observed.camera_inputs, parts.images, strict=True))
    return feeds if parts.vector is None else feeds | {"obs": parts.vector}


def frames(size: int, steps: int) -> torch.Tensor:
    """Return images of noise, of one shade, and of two shades: (steps, E, size) bytes."""
    g = draws.generator(0, "probes")
    noise = torch.randint(256, (steps, 6, size), generator=g)
    shades = torch.randint(256, (steps, 3, 1), generator=g).expand(-1, -1, size)
    dark_below = torch.where(torch.arange(size) < size // 2, shades, shades // 4)
    flat = torch.tensor([0, 255]).reshape(1, 2, 1).expand(steps, -1, size)
    return torch.cat([noise, shades, dark_below, flat], 1).to(torch.uint8)


def _rounded_otherwise(policies: Policies) -> Policies:
    """Return the policy, then copies of it whose parameters differ in their last digits."""
    g = draws.generator(0, "rounding")

    def copies(x: torch.Tensor) -> torch.Tensor:
        jitter = [torch.rand(x.shape, generator=g) * 2 - 1 for _ in range(_COPIES)]
        return torch.cat([x, *(x * (1 + _ROUNDING * j) for j in jitter)])

    return replace(
        policies,
        params={k: copies(v) for k, v in policies.params.items()},
        scales=Scaling.stack([policies.scales] * (1 + _COPIES)),
        members=policies.members * (1 + _COPIES),
    )


def _tolerance(scales: Scaling) -> NDArray[np.float32]:
    """Return the tolerance of each action dimension: a share of its range, and its rounding."""
    low, high = scales.action_low[0].numpy(), scales.action_high[0].numpy()
    largest: NDArray[np.float32] = np.maximum(np.abs(low), np.abs(high))
    return np.asarray(TOLERANCE * (high - low) + _ROUNDING * largest, np.float32)
