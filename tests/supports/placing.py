"""Counterfactuals placed by a support, and tests of whether they are uniform."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from torch import Tensor

from counterbc.data.feasible import Everywhere, Feasible, UnitBall, UnitBox
from counterbc.supports import Box, Support

SETS: list[Feasible] = [Everywhere(), UnitBox(), UnitBall()]
EDGE = 2e-5  # float32 rounding of numbers of about 1
COUNT = 8000


def place(
    support: Support, action: Tensor, radius: Any, feasible: Feasible, seed: int = 0
) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    draws = support.draws(action.shape[-1], feasible)
    u = torch.rand(len(action), support.count, draws, generator=generator)
    delta = torch.as_tensor(radius, dtype=action.dtype).expand_as(action)
    return support.place(action, delta, u.to(action.dtype).clamp(1e-7, 1 - 1e-7), feasible)


def far(support: Support, offset: Tensor) -> Tensor:
    """The distance that defines C(s, a)."""
    return offset.abs().amax(-1) if isinstance(support, Box) else offset.norm(dim=-1)


def many(support: Support, action: list[float], radius: Any, feasible: Feasible) -> NDArray[Any]:
    """The counterfactuals of one action: (count, A)."""
    return place(support, torch.tensor([action]), radius, feasible)[0, 1:].double().numpy()


def looks_uniform(x: NDArray[Any]) -> bool:
    """Whether numbers could be uniform in (0, 1)."""
    return bool(stats.kstest(x, "uniform").pvalue > 1e-3)


def angle(points: NDArray[Any]) -> NDArray[Any]:
    """Of 2-D offsets, in turns within [0, 1)."""
    return np.asarray(np.arctan2(points[:, 1], points[:, 0]) / (2 * math.pi) % 1)
