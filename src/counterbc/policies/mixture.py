"""A policy with several modes: hidden layers with ReLU, then a mixture of Gaussians."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.errors import OptionError
from counterbc.policies.censored import log_likelihood
from counterbc.policies.fused import HALF_LOG_2PI
from counterbc.policies.gaussian import LOG_STD_RANGE
from counterbc.policies.layers import dense, linear, relu_chain, xavier
from counterbc.policies.policy import Params, Policy

_REACH = 0.8  # of the initial means; through tanh they can still move both ways
_TINY = 2.0**-24  # half the smallest uniform number


@dataclass(frozen=True)
class Mixture(Policy):
    """π(a|s) = Σ_k w_k(s) N(a; μ_k(s), diag σ_k(s)²) with w = softmax(…), μ and σ as in a Gaussian.

    One mode is the Gaussian MLP. Several modes start spread over the actions, and narrow enough
    that each takes a share of the data; if they started equal they would stay equal.
    """

    stacks: ClassVar[bool] = True
    modes: int = 5
    """K, the number of Gaussians."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.modes < 1:
            raise OptionError(f"modes is {self.modes}; a mixture has 1 or more")

    def with_modes(self, modes: int) -> Mixture:
        return replace(self, modes=modes)

    def init(self, generator: torch.Generator, obs_size: int, action_size: int) -> Params:
        sizes, each = (obs_size * self.history, *self.hidden), (action_size,) * self.modes
        params = dense(generator, sizes, "layer")
        params["head.weight"] = xavier(generator, self.hidden[-1], self.modes, *each, *each)
        apart = self.reach * (self._apart(generator, action_size) / self.reach).atanh().flatten()
        narrow = torch.full((self.modes * action_size,), -math.log(self.modes))
        params["head.bias"] = torch.cat([torch.zeros(self.modes), apart, narrow])
        return params

    def _apart(self, generator: torch.Generator, action_size: int) -> Tensor:
        """Return initial means: K even steps in each dimension, each in a random order: (K, A)."""
        if self.modes == 1:
            return torch.zeros(1, action_size)
        steps = torch.linspace(-_REACH, _REACH, self.modes)
        orders = [torch.randperm(self.modes, generator=generator) for _ in range(action_size)]
        return torch.stack([steps[order] for order in orders], dim=1)

    def head(self, params: Params, obs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return log w (B, K), μ and log σ (B, K, A)."""
        flat = obs if self.history == 1 else obs.flatten(-2)
        x = relu_chain(params, flat, "layer", len(self.hidden))
        x = linear(x, params["head.weight"], params["head.bias"])
        log_w, mean, log_std = self._split(x)
        mean = mean.tanh() if self.reach == 1 else self.reach * (mean / self.reach).tanh()
        return log_w, mean, log_std.clamp(*LOG_STD_RANGE)

    def _split(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return log w (B, K), and means and log σ without bounds (B, K, A), from one row each."""
        split = (x.shape[-1] - self.modes) // 2
        logits, mean, log_std = x.split([self.modes, split, split], dim=-1)
        mean, log_std = (y.unflatten(-1, (self.modes, -1)).contiguous() for y in (mean, log_std))
        return logits.log_softmax(-1), mean, log_std

    def chain(self) -> tuple[str, ...]:
        is_plain = self.history == 1 and self.reach == 1
        if type(self) is not Mixture or not is_plain:  # a subclass may differ
            return ()
        return (*(f"layer{i}" for i in range(len(self.hidden))), "head")

    def log_prob(self, head: tuple[Tensor, ...], actions: Tensor) -> Tensor:
        log_w, mean, log_std = head
        inverse = (-log_std).exp()
        # Modes before actions: sums over the last dimension of a few numbers are slow.
        z = (actions.unsqueeze(-3) - mean.unsqueeze(-2)) * inverse.unsqueeze(-2)  # (B, K, M, A)
        constant = log_w - log_std.sum(-1) - actions.shape[-1] * HALF_LOG_2PI  # (B, K)
        log_pi_k = constant.unsqueeze(-1) - 0.5 * z.square().sum(-1)  # (B, K, M)
        return self._log_sum(log_pi_k)

    def _log_sum(self, log_pi_k: Tensor) -> Tensor:
        """Return log π from log(w_k π_k): (B, K, M) → (B, M)."""
        return log_pi_k.logsumexp(-2)

    def censored_log_prob(self, head: tuple[Tensor, ...], actions: Tensor, side: Tensor) -> Tensor:
        if type(self).log_prob is not Mixture.log_prob:  # a subclass has another density
            return super().censored_log_prob(head, actions, side)
        log_w, mean, log_std = head
        z = (actions.unsqueeze(-3) - mean.unsqueeze(-2)) * (-log_std).exp().unsqueeze(-2)
        by_dimension = log_likelihood(z, log_std.unsqueeze(-2), side.unsqueeze(-2).unsqueeze(-2))
        return self._log_sum(log_w.unsqueeze(-1) + by_dimension.sum(-1))

    def mean(self, head: tuple[Tensor, ...]) -> Tensor:
        """Return the mean of the heaviest mode; the mean of all modes may be what nobody meant."""
        log_w, mean, _ = head
        return _of_mode(mean, log_w.argmax(-1))

    def sample(self, head: tuple[Tensor, ...], u: Tensor) -> Tensor:
        """Sample an action; the first uniform number chooses the mode; its rest is uniform."""
        log_w, mean, log_std = head
        ends = log_w.detach().exp().cumsum(-1)  # (B, K)
        first = u[..., :1] * ends[..., -1:]  # within the sum, which rounding leaves near 1
        mode = (first >= ends).sum(-1).clamp(max=self.modes - 1)  # (B,)
        end = ends.gather(-1, mode.unsqueeze(-1))  # (B, 1)
        width = log_w.detach().exp().gather(-1, mode.unsqueeze(-1))
        rest = (1 - (end - first) / width).clamp(_TINY, 1 - _TINY)
        noise: Tensor = torch.special.ndtri(torch.cat([rest, u[..., 1:]], dim=-1))  # (B, A)
        return _of_mode(mean, mode) + _of_mode(log_std, mode).exp() * noise


def _of_mode(values: Tensor, mode: Tensor) -> Tensor:
    """Return the rows of one mode each: (B, K, A), (B,) → (B, A)."""
    index = mode.unsqueeze(-1).unsqueeze(-1).expand(*mode.shape, 1, values.shape[-1])
    return values.gather(-2, index).squeeze(-2)
