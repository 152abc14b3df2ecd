"""C(s, a), eq. M2: the counterfactual actions a demonstrator could have meant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from counterbc.data.feasible import Everywhere, Feasible, UnitBox
from counterbc.errors import OptionError

_TRIES, _SWEEPS = 4, 4


@dataclass(frozen=True)
class Support(ABC):
    """Places `count` counterfactuals per pair, uniform in C(s, a) ∩ A, from uniform numbers."""

    count: int = 50

    def __post_init__(self) -> None:
        if self.count < 0:
            raise OptionError(f"{self.count} counterfactuals were asked for; give 0 or more")

    @abstractmethod
    def draws(self, action_size: int, feasible: Feasible) -> int:
        """How many uniform numbers one counterfactual takes."""

    @abstractmethod
    def counterfactuals(
        self, action: Tensor, radius: Tensor, u: Tensor, feasible: Feasible
    ) -> Tensor:
        """Points of C(s, a) ∩ A for actions (B, 1, A), radii (B, 1, A), u (B, count, draws)."""

    def place(self, action: Tensor, radius: Tensor, u: Tensor, feasible: Feasible) -> Tensor:
        """The demonstrated action first, then where the draws u fall: (B, 1 + count, A).

        Where C(s, a) and A do not meet, the demonstrated action stands for its counterfactuals.
        """
        action, radius = action.unsqueeze(-2), radius.unsqueeze(-2)  # (B, 1, A)
        if self.count == 0:
            return action
        placed = self.counterfactuals(action, radius, u, feasible)  # (B, M, A)
        return torch.cat([action, placed], dim=-2)


@dataclass(frozen=True)
class Demonstrated(Support):
    """C(s, a) = {a}: what was shown, and nothing else."""

    count: int = 0

    def draws(self, action_size: int, feasible: Feasible) -> int:
        return 0

    def counterfactuals(
        self, action: Tensor, radius: Tensor, u: Tensor, feasible: Feasible
    ) -> Tensor:
        return action.expand(*action.shape[:-2], 0, action.shape[-1])


class _Convex(Support):
    """Rejection first, which is exact; then, for draws never accepted, a walk inside the set.

    The walk visits one dimension after the other and draws it uniformly from the interval that
    C(s, a) ∩ A leaves it (Gibbs sampling), so it works in a corner of 28 dimensions too.
    """

    def _plan(self, feasible: Feasible) -> tuple[int, int]:
        """How many tries and how many sweeps."""
        return (1, 0) if isinstance(feasible, Everywhere) else (_TRIES, _SWEEPS)

    @abstractmethod
    def _numbers(self, action_size: int) -> int:
        """Uniform numbers per try."""

    @abstractmethod
    def _propose(self, radius: Tensor, u: Tensor) -> Tensor:
        """Offsets uniform in C(s, a) − a."""

    @abstractmethod
    def _reach(self, offset: Tensor, radius: Tensor, dimension: int) -> Tensor:
        """How far one dimension of an offset may go within C(s, a), the others held."""

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
            accepted = feasible.contains(proposal).unsqueeze(-1)
            point = proposal if point is None else torch.where(accepted, proposal, point)
        assert point is not None
        return point

    def _start(self, action: Tensor, radius: Tensor, u: Tensor, feasible: Feasible) -> Tensor:
        """A point of C(s, a) ∩ A: a draw with the dimensions that leave [-1, 1] mirrored, which is
        exact in a corner; else a itself, or its projection where that is within C(s, a)."""
        plain = feasible.project(action).expand(*u.shape[:-1], action.shape[-1])
        if not self._plan(feasible)[0]:
            return plain
        offset = self._propose(radius, u[..., : self._numbers(action.shape[-1])])
        mirrored = action + torch.where((action + offset).abs() > 1, -offset, offset)
        return torch.where(feasible.contains(mirrored).unsqueeze(-1), mirrored, plain)

    def _walk(
        self, action: Tensor, radius: Tensor, point: Tensor, u: Tensor, feasible: Feasible
    ) -> Tensor:
        inside = self._inside(point - action, radius).unsqueeze(-1)  # else C and A may not meet
        for sweep in range(u.shape[-2]):
            for d in range(u.shape[-1]):
                low, high = feasible.interval(point, d)
                reach = self._reach(point - action, radius, d)
                low = torch.maximum(low, action[..., d] - reach)
                high = torch.minimum(high, action[..., d] + reach)
                moved = low + u[..., sweep, d] * (high - low).clamp(min=0)
                point = torch.cat(
                    [point[..., :d], moved.unsqueeze(-1), point[..., d + 1 :]], dim=-1
                )
        return torch.where(inside, point, action)

    def _inside(self, offset: Tensor, radius: Tensor) -> Tensor:
        return offset[..., 0].abs() <= self._reach(offset, radius, 0) + 1e-6


@dataclass(frozen=True)
class Ball(_Convex):
    """C(s, a) = {a' : ‖(a − a') / Δ‖₂ ≤ 1}: a ball, or an ellipsoid for a Δ per dimension."""

    def _numbers(self, action_size: int) -> int:
        return action_size + 1

    def _propose(self, radius: Tensor, u: Tensor) -> Tensor:
        active = radius > 0  # a dimension with Δ = 0 does not move, nor count as a dimension
        normal: Tensor = torch.special.ndtri(u[..., :-1]) * active
        length = normal.square().sum(-1, keepdim=True).sqrt().clamp(min=1e-12)
        dimensions = active.sum(-1, keepdim=True).clamp(min=1)
        return radius * normal / length * u[..., -1:] ** (1 / dimensions)

    def _reach(self, offset: Tensor, radius: Tensor, dimension: int) -> Tensor:
        scaled = torch.where(radius > 0, offset / radius.clamp(min=1e-12), 0)
        others = scaled.square().sum(-1) - scaled[..., dimension].square()
        return radius[..., dimension] * (1 - others).clamp(min=0).sqrt()

    def _inside(self, offset: Tensor, radius: Tensor) -> Tensor:
        scaled = offset / radius.clamp(min=1e-12)
        return (scaled.square().sum(-1) <= 1) | (offset == 0).all(-1)


@dataclass(frozen=True)
class Box(_Convex):
    """C(s, a) = {a' : |a_d − a'_d| ≤ Δ_d for every dimension d}, as the authors' code draws it."""

    def _plan(self, feasible: Feasible) -> tuple[int, int]:
        # A box cut by a box is a box: one sweep is exact and no try is needed.
        return (0, 1) if isinstance(feasible, UnitBox) else super()._plan(feasible)

    def _numbers(self, action_size: int) -> int:
        return action_size

    def _propose(self, radius: Tensor, u: Tensor) -> Tensor:
        return radius * (2 * u - 1)

    def _reach(self, offset: Tensor, radius: Tensor, dimension: int) -> Tensor:
        return radius[..., dimension]

    def _inside(self, offset: Tensor, radius: Tensor) -> Tensor:
        return (offset.abs() <= radius + 1e-6).all(-1)


@dataclass(frozen=True)
class Metric(Support):
    """C(s, a) = {a' : distance(a, a') ≤ Δ} for a distance of the user's own.

    `distance` maps (…, A), (…, A) → (…) and must keep the set within ±`reach`·Δ of a, star-shaped
    around a. A draw that 16 tries leave outside is pulled towards a until it is inside.
    """

    distance: Callable[[Tensor, Tensor], Tensor] = lambda a, b: (a - b).norm(dim=-1)
    reach: float = 1.0

    def draws(self, action_size: int, feasible: Feasible) -> int:
        return 16 * action_size

    def counterfactuals(
        self, action: Tensor, radius: Tensor, u: Tensor, feasible: Feasible
    ) -> Tensor:
        if not torch.equal(radius, radius[..., :1].expand_as(radius)):
            raise OptionError("a metric takes one radius, not one per dimension")

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


SUPPORTS: dict[str, type[Support]] = {"ball": Ball, "box": Box}
