"""The Gaussian head of the paper's policies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.data.draws import Source
from counterbc.policies.censored import log_likelihood
from counterbc.policies.fused import HALF_LOG_2PI, gaussian_cross_entropy
from counterbc.policies.layers import linear, xavier
from counterbc.policies.policy import Params, Policy

LOG_STD_RANGE = (-20.0, 2.0)


@dataclass(frozen=True)
class Gaussian(Policy):
    """π(a|s) = N(a; μ(s), diag σ(s)²) with μ = tanh(…) and log σ clamped to [−20, 2].

    With a larger `reach`, μ = reach · tanh(… / reach).
    """

    stacks: ClassVar[bool] = True

    def _init_head(self, source: Source, inputs: int, action_size: int) -> Params:
        return {
            "head.weight": xavier(source, inputs, action_size, action_size),
            "head.bias": torch.zeros(2 * action_size),
        }

    def _head(self, params: Params, x: Tensor) -> tuple[Tensor, Tensor]:
        mean, log_std = linear(x, params["head.weight"], params["head.bias"]).chunk(2, dim=-1)
        # Contiguous, because torch's tanh does not vectorize over parts of rows.
        mean = mean.contiguous()
        mean = mean.tanh() if self.reach == 1 else self.reach * (mean / self.reach).tanh()
        return mean, log_std.contiguous().clamp(*LOG_STD_RANGE)  # (B, A) each

    def log_prob(self, head: tuple[Tensor, ...], actions: Tensor) -> Tensor:
        mean, log_std = head
        z = (actions - mean.unsqueeze(-2)) * (-log_std).exp().unsqueeze(-2)  # (B, M, A)
        constant = log_std.sum(-1, keepdim=True) + actions.shape[-1] * HALF_LOG_2PI  # (B, 1)
        return -0.5 * z.square().sum(-1) - constant

    def censored_log_prob(self, head: tuple[Tensor, ...], actions: Tensor, side: Tensor) -> Tensor:
        if type(self).log_prob is not Gaussian.log_prob:  # a subclass has another density
            return super().censored_log_prob(head, actions, side)
        mean, log_std = head
        z = (actions - mean.unsqueeze(-2)) * (-log_std).exp().unsqueeze(-2)  # (B, M, A)
        return log_likelihood(z, log_std.unsqueeze(-2), side.unsqueeze(-2)).sum(-1)

    def mean(self, head: tuple[Tensor, ...]) -> Tensor:
        return head[0]

    def sample(self, head: tuple[Tensor, ...], u: Tensor) -> Tensor:
        mean, log_std = head
        noise: Tensor = torch.special.ndtri(u)
        return mean + log_std.exp() * noise

    def cross_entropy(self, head: tuple[Tensor, ...], actions: Tensor) -> Tensor:
        if not self.is_fused():
            return super().cross_entropy(head, actions)
        mean, log_std = head
        return gaussian_cross_entropy(mean, log_std, actions)

    @classmethod
    def is_fused(cls) -> bool:
        """Return whether eq. M4 is computed in closed form: not where a subclass changes log π."""
        methods = Gaussian.log_prob, Gaussian.cross_entropy
        return (cls.log_prob, cls.cross_entropy) == methods
