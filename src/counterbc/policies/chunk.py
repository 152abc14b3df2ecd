"""Policies that predict chunks of actions by regression or as a mixture of Gaussians."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.policies.gaussian_mlp import GaussianMLP
from counterbc.policies.layers import linear
from counterbc.policies.mixture import Mixture
from counterbc.policies.policy import Params, Policy
from counterbc.policies.residual import check_widths, hidden_for, init_residual, residual_layers

SIGMA = 0.2
"""σ of the only mode, in standard deviations of each number of a chunk."""
LOG_STD_RANGE = (-3.0, 2.0)
"""log σ of several modes; narrower ones would fit single chunks of a small dataset."""
_NEGLIGIBLE = 40.0  # e^−40 is 4e-18, less than a rounding error of float64


@dataclass(frozen=True)
class Chunk(Mixture):
    """π(a|s) = Σ_k w_k(s) N(a; μ_k(s), diag σ_k(s)²) over whole chunks a, with residual layers.

    One mode has the constant σ = 0.2, so −log π is the squared error ‖a − μ‖² / 2σ² up to a
    constant. Several modes learn w and σ. Means have no bound, since actions are standardized.
    """

    standardizes: ClassVar[bool] = True
    repeats_first: ClassVar[bool] = True
    reads_angles: ClassVar[bool] = True
    steps: ClassVar[int | None] = 15_000
    learning_rate: ClassVar[float] = 1e-3
    hidden: tuple[int, ...] = (512, 512, 512, 512)
    history: int = 2
    modes: int = 1
    """K, the number of Gaussians; 1 learns by squared error."""
    horizon: int = field(default=16, kw_only=True)
    execute: int = field(default=8, kw_only=True)
    ema_share: float = field(default=0.002, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_widths(self.hidden)

    def sized(self, pairs: int) -> Chunk:
        usual = type(self).hidden
        return replace(self, hidden=hidden_for(pairs, usual)) if self.hidden == usual else self

    def one_step(self) -> Policy:
        return GaussianMLP() if self.modes == 1 else Mixture(modes=self.modes)

    def init(self, generator: torch.Generator, obs_size: int, action_size: int) -> Params:
        outputs = self.modes * action_size
        if self.modes > 1:
            outputs = self.modes + 2 * outputs
        params = init_residual(generator, obs_size * self.history, self.hidden, outputs)
        if self.modes > 1:  # the modes of a chunk start apart in the same way at each of its steps
            apart = self._apart(generator, action_size // self.horizon).repeat(1, self.horizon)
            narrow = torch.full((self.modes * action_size,), -math.log(self.modes))
            params["head.bias"] = torch.cat([torch.zeros(self.modes), apart.flatten(), narrow])
        return params

    def head(self, params: Params, obs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        flat = obs if self.history == 1 else obs.flatten(-2)
        first = linear(flat, params["layer0.weight"], params["layer0.bias"])
        x = residual_layers(params, first, len(self.hidden))
        x = linear(x, params["head.weight"], params["head.bias"])
        if self.modes == 1:
            mean = x.unsqueeze(-2)  # (B, 1, D)
            return torch.zeros_like(mean[..., 0]), mean, torch.full_like(mean, math.log(SIGMA))
        log_w, mean, log_std = self._split(x)
        return log_w, mean, log_std.clamp(*LOG_STD_RANGE)

    def _log_sum(self, log_pi_k: Tensor) -> Tensor:
        """Return log π without the gradient of modes that contribute less than rounding does.

        Their gradients are below the smallest normal numbers, with which a CPU computes slowly:
        steps of five modes took 2.5 times as long.
        """
        top = log_pi_k.detach().amax(-2, keepdim=True)
        return super()._log_sum(log_pi_k.clamp(min=top - _NEGLIGIBLE))
