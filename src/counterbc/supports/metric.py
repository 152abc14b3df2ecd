"""A set around the demonstrated action that any distance defines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.data.feasible import Feasible
from counterbc.errors import OptionError
from counterbc.supports.support import Support


@dataclass(frozen=True)
class Metric(Support):
    """C(s, a) = {a' : distance(a, a') ≤ Δ} for any distance.

    `distance` maps (…, A), (…, A) → (…) and must keep the set within ±`reach`·Δ of a, star-shaped
    around a. A draw that is still outside after 16 tries is moved towards a until it is
    inside.
    """

    shrinks: ClassVar[bool] = True
    distance: Callable[[Tensor, Tensor], Tensor] = lambda a, b: (a - b).norm(dim=-1)
    reach: float = 1.0

    def draws(self, action_size: int, feasible: Feasible) -> int:
        return 16 * action_size

    def counterfactuals(
        self, action: Tensor, radius: Tensor, u: Tensor, feasible: Feasible
    ) -> Tensor:
        if not torch.equal(radius, radius[..., :1].expand_as(radius)):
            raise OptionError(
                "a metric takes one radius, not one per dimension; give one number, or use a box "
                "or ball"
            )

        def inside(point: Tensor) -> Tensor:
            near = self.distance(action.expand_as(point), point) <= radius[..., 0]
            return (near & feasible.contains(point)).unsqueeze(-1)

        tries = (2 * u.unflatten(-1, (16, action.shape[-1])) - 1) * self.reach  # (B, M, 16, A)
        point = action + radius * tries[..., 15, :]
        for k in reversed(range(15)):
            proposal = action + radius * tries[..., k, :]
            point = torch.where(inside(proposal), proposal, point)
        # A is convex, so a point brought into A stays there on its way to a.
        point = torch.where(inside(point), point, feasible.project(point))
        for _ in range(30):
            point = torch.where(inside(point), point, (point + action) / 2)
        return torch.where(inside(point), point, action)
