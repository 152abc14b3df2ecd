"""Modes of a mixture: which of its Gaussians, and which actions, belong together.

Two Gaussians belong together where the density between their means does not fall below a twentieth
of the lower mean's. So wide noise that a mixture fits by several Gaussians is one mode, whatever
its scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from counterbc.policies import Policy

_VALLEY = 0.05  # of the lower peak: a lower density divides two modes
_WEIGHT = 0.01  # of a Gaussian that counts
_POINTS = 9  # evaluated between two means


@dataclass(frozen=True, eq=False)
class ModeGroups:
    """The modes of one mixture at each of B states."""

    policy: Policy
    head: tuple[Tensor, ...]
    """log w (B, K), μ and log σ (B, K, A)."""
    label: Tensor
    """(B, K): Gaussians with the same number share a mode."""

    @staticmethod
    def of(policy: Policy, head: tuple[Tensor, ...]) -> ModeGroups:
        return ModeGroups(policy, head, _labels(_together(policy, head)))

    def at(self, actions: Tensor) -> Tensor:
        """Return the mode that actions (B, M, A) belong to: (B, M)."""
        log_w, mean, log_std = self.head
        z = (actions.unsqueeze(2) - mean.unsqueeze(1)) / log_std.exp().unsqueeze(1)  # (B, M, K, A)
        log = (log_w - log_std.sum(-1)).unsqueeze(1) - 0.5 * z.square().sum(-1)  # (B, M, K)
        return self.label.gather(1, log.argmax(-1))

    def within(self, head: tuple[Tensor, ...], action: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and variance of another mixture within the mode of an action: (B, A) each.

        Its nearest Gaussian counts if none of them is in that mode.
        """
        log_w, mean, log_std = head
        counts = log_w.exp() >= min(_WEIGHT, 1 / log_w.shape[-1])  # (B, K)
        in_mode = counts & (self.at(mean) == self.at(action.unsqueeze(1)))
        away = (mean - action.unsqueeze(1)).square().sum(-1).where(counts, torch.inf)  # (B, K)
        nearest = away == away.min(-1, keepdim=True).values
        selection = torch.where(in_mode.any(-1, keepdim=True), in_mode, nearest)
        share = log_w.where(selection, -torch.inf).softmax(-1).unsqueeze(-1)  # (B, K, 1)
        middle = (share * mean).sum(1)  # (B, A)
        around = (mean - middle.unsqueeze(1)).square() + (2 * log_std).exp()
        return middle, (share * around).sum(1)


def _together(policy: Policy, head: tuple[Tensor, ...]) -> Tensor:
    """Return whether no valley divides two means: (B, K, K)."""
    mean = head[1]
    batch, modes, size = mean.shape
    t = torch.linspace(0, 1, _POINTS, dtype=mean.dtype).view(1, 1, 1, -1, 1)
    a, b = mean.view(batch, modes, 1, 1, size), mean.view(batch, 1, modes, 1, size)
    way = (a + t * (b - a)).view(batch, -1, size)  # (B, K · K · points, A)
    log_p = policy.log_prob(head, way).view(batch, modes, modes, _POINTS)
    lower = torch.minimum(log_p[..., 0], log_p[..., -1])
    together: Tensor = log_p.min(-1).values >= lower + torch.tensor(_VALLEY).log()
    return together


def _labels(together: Tensor) -> Tensor:
    """Return the smallest number that can be reached from each: (B, K)."""
    reach = together.float()
    for _ in range(together.shape[-1].bit_length()):
        reach = ((reach @ reach) > 0).float()
    return reach.argmax(-1)  # the first of equal values
