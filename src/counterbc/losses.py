"""The generalized loss (eq. M1) for one policy and one batch. Start reading here.

    L(θ) = Σ_(s,a)∈D  Σ_a'∈C(s,a)  − R(s,a') · log π_θ(a'|s)

`log_pi` is log π_θ(a'|s) for the M actions of C(s, a), the demonstrated one first: (B, M). Losses
come out per state, (B,); the caller reduces.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from counterbc.data.feasible import Everywhere, Feasible
from counterbc.errors import DataError, OptionError
from counterbc.supports import Ball, Support


def generalized_loss(log_pi: Tensor, weights: Tensor) -> Tensor:
    """Return Σ_a' −R(s, a') · log π(a'|s) of each state, eq. M1: (B,).

    >>> generalized_loss(torch.tensor([[-1.0, -2.0]]), torch.tensor([[0.25, 0.75]]))
    tensor([1.7500])
    """
    if log_pi.shape != weights.shape:
        raise DataError(
            f"log_pi has shape {tuple(log_pi.shape)}, weights {tuple(weights.shape)}; "
            "give one weight per state and action"
        )
    return -(weights * log_pi).sum(-1)


def restricted_policy(log_pi: Tensor) -> Tensor:
    """Return π̂(a'|s), eq. M3: π restricted to C(s, a), summing to one over it: (B, M)."""
    return log_pi.softmax(-1)


def cross_entropy(log_pi: Tensor) -> Tensor:
    """Return −Σ π̂ · log π of each state, eq. M4, equal to H(π̂) + KL(π̂, π), eq. M7: (B,)."""
    return generalized_loss(log_pi, restricted_policy(log_pi))


def counter_bc_loss(
    log_prob: Callable[[Tensor, Tensor], Tensor],
    obs: Tensor,
    action: Tensor,
    radius: float | Tensor,
    generator: torch.Generator,
    support: Support = Ball(),  # noqa: B008 - a frozen value
    feasible: Feasible = Everywhere(),  # noqa: B008 - a frozen value
) -> Tensor:
    """Return the loss of Counter-BC (Algorithm 1), for any training loop: the mean over a batch.

    `log_prob(obs, actions)` maps (B, …) and (B, M, A) to (B, M); `radius` is Δ in the units of
    `action`, a number or one per dimension. Every call draws new counterfactuals.
    """
    if action.ndim != 2 or len(obs) != len(action):
        raise DataError(
            f"action has shape {tuple(action.shape)} and obs {tuple(obs.shape)}; "
            "expected (B, A) and (B, …)"
        )
    delta = torch.as_tensor(radius, dtype=action.dtype, device=action.device).expand_as(action)
    if not bool((delta >= 0).all()):
        raise OptionError(f"radius is {radius}; it must be 0 or more")
    count = support.draws(action.shape[-1], feasible)
    shape = (len(action), support.count, count)
    u = torch.rand(shape, generator=generator, device=generator.device)
    u = u.to(action).clamp(1e-7, 1 - 1e-7)
    actions = support.place(action, delta, u, feasible)  # (B, M, A)
    log_pi = log_prob(obs, actions)
    if log_pi.shape != actions.shape[:-1]:
        raise DataError(
            f"log_prob gave shape {tuple(log_pi.shape)}; expected {tuple(actions.shape[:-1])}, "
            "one number per state and action"
        )
    return cross_entropy(log_pi).mean()
