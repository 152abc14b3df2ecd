"""The likelihood of a censored variable (Tobin 1958), in each dimension of an action.

An action that was cut at a bound tells only that the demonstrator asked for the bound or more:

    log p(a') = log N(a'; μ, σ²)            inside the bounds
    log p(a') = log Φ((μ − a') / σ)         on the upper bound: all actions from a' on
    log p(a') = log Φ((a' − μ) / σ)         on the lower bound
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from counterbc.policies.fused import HALF_LOG_2PI


def log_likelihood(z: Tensor, log_std: Tensor, side: Tensor) -> Tensor:
    """Return log p of each dimension from z = (a' − μ)/σ, log σ and the side; all broadcast.

    The side is 1 for an action on its upper bound, −1 on its lower one, and 0 between them.
    """
    density = -0.5 * z.square() - log_std - HALF_LOG_2PI
    return torch.where(side == 0, density, log_ndtr(-side * z))


def log_ndtr(x: Tensor) -> Tensor:
    """Return log Φ(x), with a gradient that holds for any x.

    Left of 0 it is −x²/2 + log(erfcx(−x/√2) / 2); the gradient of torch's own log Φ takes the
    difference of two large numbers there, which rounding destroys.
    """
    left, right = x.clamp(max=0), x.clamp(min=0)
    tail: Tensor = torch.special.erfcx(left * -math.sqrt(0.5))
    below = -0.5 * left.square() + (0.5 * tail).log()
    above: Tensor = torch.special.log_ndtr(right)
    return torch.where(x < 0, below, above)
