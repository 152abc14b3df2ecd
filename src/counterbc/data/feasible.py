"""A, the set of feasible actions, in the units the policy works in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

_EDGE = 1e-5  # float32 rounding at the boundary is not infeasible


class Feasible(Protocol):
    """A convex set of actions; the last dimension of every tensor is the action's."""

    def contains(self, action: Tensor) -> Tensor:
        """Return whether each action lies in A: (…)."""

    def project(self, action: Tensor) -> Tensor:
        """Return the nearest action in A: (…, A)."""

    def interval(self, action: Tensor, dimension: int) -> tuple[Tensor, Tensor]:
        """Return the least and the largest feasible value of one dimension, the others being fixed.

        Both are (…) tensors.
        """


@dataclass(frozen=True)
class Everywhere:
    """Every action is feasible."""

    def contains(self, action: Tensor) -> Tensor:
        return torch.ones_like(action[..., 0], dtype=torch.bool)

    def project(self, action: Tensor) -> Tensor:
        return action

    def interval(self, action: Tensor, dimension: int) -> tuple[Tensor, Tensor]:
        edge = torch.full_like(action[..., 0], torch.inf)
        return -edge, edge


@dataclass(frozen=True)
class UnitBox:
    """[-1, 1] in every dimension."""

    def contains(self, action: Tensor) -> Tensor:
        return (action.abs() <= 1 + _EDGE).all(-1)

    def project(self, action: Tensor) -> Tensor:
        return action.clamp(-1, 1)

    def interval(self, action: Tensor, dimension: int) -> tuple[Tensor, Tensor]:
        edge = torch.ones_like(action[..., 0])
        return -edge, edge


@dataclass(frozen=True)
class UnitBall:
    """Length at most 1."""

    def contains(self, action: Tensor) -> Tensor:
        return action.square().sum(-1) <= (1 + _EDGE) ** 2

    def project(self, action: Tensor) -> Tensor:
        return action / action.square().sum(-1, keepdim=True).sqrt().clamp(min=1)

    def interval(self, action: Tensor, dimension: int) -> tuple[Tensor, Tensor]:
        rest = action.square().sum(-1) - action[..., dimension].square()
        edge = (1 - rest).clamp(min=0).sqrt()
        return -edge, edge


def feasible_set(action_set: str) -> Feasible:
    """Return the set that `action_set` names, for actions in the range [-1, 1]."""
    return UnitBall() if action_set == "ball" else UnitBox()
