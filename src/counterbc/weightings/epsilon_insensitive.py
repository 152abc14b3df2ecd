"""ε-insensitive regression: the mean action pays only for its distance from C(s, a)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.policies.policy import Params, Policy
from counterbc.weightings.pairs import Pairs
from counterbc.weightings.weighting import Batch, Weighting

_NARROWEST = 0.01  # σ of a policy whose mean lies in every C(s, a); actions span [-1, 1]


@dataclass(frozen=True)
class EpsilonInsensitive(Weighting):
    """L = max(‖a − μ(s)‖ − ε, 0), where the radius is ε: the loss of support vector regression.

    R = 1 for a' = the action of C(s, a) that π finds likeliest, the nearest to μ(s), and 0 for all
    others. μ minimizes its distance to a', and σ maximizes the likelihood of a' with μ fixed. Where
    actions are censored, μ is cut at the bounds as they were, and pays for no more (the censored
    least absolute deviations of Powell 1984).
    """

    stacks: ClassVar[bool] = True

    def columns(self, pairs: Pairs, model: Params) -> dict[str, Tensor]:
        assert pairs.radius is not None
        shape = (*pairs.index.shape, pairs.radius.shape[-1])
        columns = {"radius": pairs.radius.unsqueeze(-2).expand(shape).clone()}  # (n, A)
        bounds = {name: pairs[name] for name in ("low", "high") if name in pairs.table}
        return columns | bounds

    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        return log_pi.new_full((), 1 / log_pi.shape[-1]).expand_as(log_pi)

    def loss(
        self, params: Params, batch: Batch, policy: Policy, head: tuple[Tensor, ...]
    ) -> Tensor:
        mean = policy.mean(head)
        shown = mean if batch.side is None else _taken(mean, batch)
        outside = excess(batch.actions[..., 0, :] - shown, batch.columns["radius"])  # (B, A)
        distance: Tensor = torch.linalg.vector_norm(outside, dim=-1)
        error = outside.detach().abs() + _NARROWEST
        log_pi = policy.log_prob(head, (mean + error).unsqueeze(-2))  # μ cancels, σ does not
        return (distance - log_pi.squeeze(-1)).mean(-1)


def _taken(mean: Tensor, batch: Batch) -> Tensor:
    return mean.clamp(batch.columns["low"], batch.columns["high"])


def excess(offset: Tensor, radius: Tensor) -> Tensor:
    """Return the part of offsets a − μ that lies outside a ball of radius ε: (…, A).

    With a radius per dimension it is the part outside an ellipsoid, on the way from a to μ.
    Dimensions whose radius is 0 keep all of their offset.
    """
    moves = radius > 0
    ratio = torch.where(moves, offset / radius.clamp(min=1e-12), 0)
    share = ratio.square().sum(-1, keepdim=True).clamp(min=1).rsqrt()  # of the offset, inside
    return offset * torch.where(moves, 1 - share, 1)
