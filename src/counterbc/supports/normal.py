"""Gaussian noise around the demonstrated action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.data.feasible import Everywhere, Feasible
from counterbc.supports.support import Support

_TRIES = 4


@dataclass(frozen=True)
class Normal(Support):
    """C(s, a) is drawn from the noise: a' = a + Δ z with z ~ N(0, 1) in each dimension.

    The noise is symmetric, so draws of what may have been meant, given a, follow the same law as
    demonstrated actions, given what was meant: they are distributed as p(a|a'). Δ is the scale of
    the noise and not an edge. A draw that is infeasible four times is projected to A.
    """

    shrinks: ClassVar[bool] = True

    def draws(self, action_size: int, feasible: Feasible) -> int:
        return self._tries(feasible) * self._numbers(action_size)

    def counterfactuals(
        self, action: Tensor, radius: Tensor, u: Tensor, feasible: Feasible
    ) -> Tensor:
        tries = u.unflatten(-1, (self._tries(feasible), -1))  # (B, M, tries, numbers)
        proposals = [action + radius * self._noise(t, action.shape[-1]) for t in tries.unbind(-2)]
        # A dimension with Δ = 0 does not move, not even to A.
        point = torch.where(radius > 0, feasible.project(proposals[0]), action)
        for proposal in reversed(proposals):
            point = torch.where(feasible.contains(proposal).unsqueeze(-1), proposal, point)
        return point

    def _tries(self, feasible: Feasible) -> int:
        return 1 if isinstance(feasible, Everywhere) else _TRIES

    def _numbers(self, action_size: int) -> int:
        """Return how many uniform numbers a try takes."""
        return action_size

    def _noise(self, u: Tensor, action_size: int) -> Tensor:
        """Return noise of scale 1 from uniform numbers: (B, M, A)."""
        noise: Tensor = torch.special.ndtri(u)
        return noise
