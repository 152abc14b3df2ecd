"""A box around the demonstrated action: the ∞-norm."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from counterbc.data.feasible import Feasible, UnitBox
from counterbc.supports.convex import Convex


@dataclass(frozen=True)
class Box(Convex):
    """C(s, a) = {a' : |a_d − a'_d| ≤ Δ_d for every dimension d}, as the authors' code draws it."""

    def _plan(self, feasible: Feasible) -> tuple[int, int]:
        # The intersection of two boxes is a box: one sweep is exact and no try is needed.
        return (0, 1) if isinstance(feasible, UnitBox) else super()._plan(feasible)

    def _numbers(self, action_size: int) -> int:
        return action_size

    def _propose(self, radius: Tensor, u: Tensor) -> Tensor:
        return radius * (2 * u - 1)

    def _reach(self, offset: Tensor, radius: Tensor, dimension: int) -> Tensor:
        return radius[..., dimension]

    def _inside(self, offset: Tensor, radius: Tensor) -> Tensor:
        return (offset.abs() <= radius + 1e-6).all(-1)
