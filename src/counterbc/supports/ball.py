"""A ball around the demonstrated action: the 2-norm."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from counterbc.supports.convex import Convex


@dataclass(frozen=True)
class Ball(Convex):
    """C(s, a) = {a' : ‖(a − a') / Δ‖₂ ≤ 1}: a ball, or an ellipsoid for a Δ per dimension."""

    def _numbers(self, action_size: int) -> int:
        return action_size + 1

    def _propose(self, radius: Tensor, u: Tensor) -> Tensor:
        active = radius > 0  # a dimension with Δ = 0 neither moves nor counts
        normal: Tensor = torch.special.ndtri(u[..., :-1]) * active
        length = normal.square().sum(-1, keepdim=True).sqrt().clamp(min=1e-12)
        dimensions = active.sum(-1, keepdim=True).clamp(min=1)
        return radius * normal / length * u[..., -1:] ** (1 / dimensions)

    def _reach(self, offset: Tensor, radius: Tensor, dimension: int) -> Tensor:
        ratio = torch.where(radius > 0, offset / radius.clamp(min=1e-12), 0)
        rest = ratio.square().sum(-1) - ratio[..., dimension].square()
        return radius[..., dimension] * (1 - rest).clamp(min=0).sqrt()

    def _inside(self, offset: Tensor, radius: Tensor) -> Tensor:
        ratio = offset / radius.clamp(min=1e-12)
        return (ratio.square().sum(-1) <= 1) | (offset == 0).all(-1)
