"""Policies that predict chunks of actions by regression or as a mixture of Gaussians."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from counterbc.policies.gaussian_mlp import GaussianMLP
from counterbc.policies.layers import linear
from counterbc.policies.mixture import Mixture
from counterbc.policies.policy import Params, Policy
from counterbc.policies.residual import Residual, init_residual

SIGMA = 0.2
"""σ of the only mode, in standard deviations of each number of a chunk."""
LOG_STD_RANGE = (-3.0, 2.0)
"""log σ of several modes; narrower ones would fit single chunks of a small dataset."""
_NEGLIGIBLE = 40.0  # e^−40 is 4e-18, less than a rounding error of float64


@dataclass(frozen=True)
class Chunk(Residual, Mixture):
    """π(a|s) = Σ_k w_k(s) N(a; μ_k(s), diag σ_k(s)²) over whole chunks a, with residual layers.

    One mode has the constant σ = 0.2, so −log π is the squared error ‖a − μ‖² / 2σ² up to a
    constant. Several modes learn w and σ. Means have no bound, since actions are standardized.
    """

    modes: int = 1
    """K, the number of Gaussians; 1 learns by squared error."""

    def one_step(self) -> Policy:
        return GaussianMLP() if self.modes == 1 else Mixture(modes=self.modes)

    def init(self, generator: torch.Generator, obs_size: int, action_size: int) -> Params:
        outputs = self.modes * action_size
        if self.modes > 1:
            outputs = self.modes + 2 * outputs
        params = init_residual(generator, obs_size * self.history, self.widths, outputs)
        if self.modes > 1:  # the modes of a chunk start apart in the same way at each of its steps
            apart = self._apart(generator, action_size // self.horizon).repeat(1, self.horizon)
            narrow = torch.full((self.modes * action_size,), -math.log(self.modes))
            params["head.bias"] = torch.cat([torch.zeros(self.modes), apart.flatten(), narrow])
        return params

    def head(self, params: Params, obs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = self.state(params, obs)
        x = self.outputs(params, linear(x, params["layer0.weight"], params["layer0.bias"]))
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
