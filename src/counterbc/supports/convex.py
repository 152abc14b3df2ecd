"""Uniform samples of a convex set that is cut by the feasible actions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.data.feasible import Everywhere, Feasible
from counterbc.supports.support import Support

_TRIES, _SWEEPS = 4, 4


@dataclass(frozen=True)
class Convex(Support):
    """A convex C(s, a), sampled by rejection and, for draws never accepted, by a walk inside it.

    Rejection is exact. The walk visits one dimension after the other and draws it uniformly from
    the interval that C(s, a) ∩ A leaves it (Gibbs sampling), so it also works in a corner of 28
    dimensions, where rejection accepts nothing.
    """

    shrinks: ClassVar[bool] = True

    def _plan(self, feasible: Feasible) -> tuple[int, int]:
        """Return the numbers of tries and of sweeps."""
        return (1, 0) if isinstance(feasible, Everywhere) else (_TRIES, _SWEEPS)

    @abstractmethod
    def _numbers(self, action_size: int) -> int:
        """Return how many uniform numbers a try takes."""

    @abstractmethod
    def _propose(self, radius: Tensor, u: Tensor) -> Tensor:
        """Return offsets uniform in C(s, a) − a."""

    @abstractmethod
    def _reach(self, offset: Tensor, radius: Tensor, dimension: int) -> Tensor:
        """Return how far one dimension of an offset reaches within C(s, a), the others fixed."""

    def draws(self, action_size: int, feasible: Feasible) -> int:
        tries, sweeps = self._plan(feasible)
        return tries * self._numbers(action_size) + sweeps * action_size

    def counterfactuals(
        self, action: Tensor, radius: Tensor, u: Tensor, feasible: Feasible
    ) -> Tensor:
        tries, sweeps = self._plan(feasible)
        size, numbers = action.shape[-1], self._numbers(action.shape[-1])
        point = self._start(action, radius, u, feasible) if sweeps else None
        if point is not None:
            sweep_u = u[..., tries * numbers :].unflatten(-1, (sweeps, size))
            point = self._walk(action, radius, point, sweep_u, feasible)  # (B, M, A)
        for k in reversed(range(tries)):
            offset = self._propose(radius, u[..., k * numbers : (k + 1) * numbers])
            proposal = action + offset
            allowed = feasible.contains(proposal).unsqueeze(-1)
            point = proposal if point is None else torch.where(allowed, proposal, point)
        assert point is not None
        return point

    def _start(self, action: Tensor, radius: Tensor, u: Tensor, feasible: Feasible) -> Tensor:
        """Return a point of C(s, a) ∩ A to start the walk from.

        It is a draw whose dimensions outside [-1, 1] are mirrored, which is exact in a corner;
        otherwise the projection of a on A.
        """
        nearest = feasible.project(action).expand(*u.shape[:-1], action.shape[-1])
        if not self._plan(feasible)[0]:
            return nearest
        offset = self._propose(radius, u[..., : self._numbers(action.shape[-1])])
        mirror = action + torch.where((action + offset).abs() > 1, -offset, offset)
        return torch.where(feasible.contains(mirror).unsqueeze(-1), mirror, nearest)

    def _walk(
        self, action: Tensor, radius: Tensor, point: Tensor, u: Tensor, feasible: Feasible
    ) -> Tensor:
        inside = self._inside(point - action, radius).unsqueeze(-1)  # else C ∩ A may be empty
        for sweep in range(u.shape[-2]):
            for d in range(u.shape[-1]):
                low, high = feasible.interval(point, d)
                reach = self._reach(point - action, radius, d)
                low = torch.maximum(low, action[..., d] - reach)
                high = torch.minimum(high, action[..., d] + reach)
                new = low + u[..., sweep, d] * (high - low).clamp(min=0)
                point = torch.cat([point[..., :d], new.unsqueeze(-1), point[..., d + 1 :]], dim=-1)
        return torch.where(inside, point, action)

    def _inside(self, offset: Tensor, radius: Tensor) -> Tensor:
        return offset[..., 0].abs() <= self._reach(offset, radius, 0) + 1e-6
