"""Kernel regression on features that are learned from gradients.

A demonstrator's action often depends on few directions of the state, such as how far a puck will
pass from the paddle. A kernel that reads all directions alike needs many pairs to see that. So the
inputs are stretched along the directions in which the regression itself changes, and it is fitted
again (recursive feature machines, Radhakrishnan et al., Science 2024):

    G = mean of ∇f(x) ∇f(x)ᵀ over the inputs        x ← √(G + floor) x, scaled to variance 1

Each fold learns features of its own, so that its predictions stay held out.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from counterbc.data.arrays import Array
from counterbc.selection.folds import Folds
from counterbc.selection.readings import LINEAR_WEIGHT, NOISE_VARIANCES

ROUNDS = 2
"""How often features are learned from the regression before them."""
LEARNED_PAIRS = 600
"""Regressions learn from at most this many pairs, evenly spaced, which bounds the time."""
MOST_ACTIONS = 3
"""Features are learned for at most this many dimensions of the action, each of which has its own:
the time grows with their number."""
_FLOOR = 0.01  # weight of a direction along which nothing changes; the mean weight is 1


class FeatureRegression:
    """Regressions on n inputs (n, D), one for each variance of the noise."""

    def __init__(self, inputs: Array, device: torch.device) -> None:
        self.inputs = torch.tensor(inputs, dtype=torch.float64, device=device)

    def predict(self, target: Array, folds: Folds, is_known: Array) -> Array:
        """Return the targets (n, A) of each fold as the others predict them: (M, n, A).

        Targets that are not known, (n,), are predicted too; nothing is learned from them.
        """
        y = torch.tensor(target).to(self.inputs).T  # (A, n)
        noise = y.new_tensor(NOISE_VARIANCES).repeat_interleave(len(y))[
            :, None, None
        ]  # (M·A, 1, 1)
        predicted = y.new_full((len(noise), y.shape[1]), torch.nan)
        y = y.repeat(len(NOISE_VARIANCES), 1)  # (M·A, n)
        for held_out, learned in zip(folds.held_out, folds.learned, strict=True):
            known = learned[is_known[learned]]
            some = np.linspace(0, len(known) - 1, min(len(known), LEARNED_PAIRS)).astype(int)
            seen = torch.tensor(known[some], device=y.device)
            at = torch.tensor(held_out, device=y.device)
            predicted[:, at] = _predict(self.inputs, y[:, seen], seen, at, noise)
        shape = (len(NOISE_VARIANCES), *target.shape[::-1])
        return np.asarray(predicted.reshape(shape).transpose(1, 2).cpu().numpy())


def _predict(inputs: Tensor, y: Tensor, seen: Tensor, at: Tensor, noise: Tensor) -> Tensor:
    """Return what B regressions on the seen inputs and their targets (B, n) predict: (B, m)."""
    mean = y.mean(1, keepdim=True)
    x = inputs[seen].expand(len(y), -1, -1)  # (B, n, D)
    z = inputs[at].expand(len(y), -1, -1)  # (B, m, D)
    for last in (*[False] * ROUNDS, True):
        bumps = _bumps(x, x)
        weight = _fit(x, bumps, y - mean, noise)
        if not last:
            stretch = _stretch(_gradients(x, bumps, weight))
            x, z = x @ stretch, z @ stretch
            scale = x.square().mean((1, 2), keepdim=True).sqrt().clamp_min(1e-12)
            x, z = x / scale, z / scale
    return mean + ((_bumps(z, x) + _linear(z, x)) @ weight)[..., 0]


def _fit(x: Tensor, bumps: Tensor, y: Tensor, noise: Tensor) -> Tensor:
    """Return the weight of each input: (B, n, 1)."""
    kernel = bumps + _linear(x, x) + noise * torch.eye(x.shape[1]).to(x)
    return torch.cholesky_solve(y[..., None], torch.linalg.cholesky(kernel))


def _bumps(x: Tensor, z: Tensor) -> Tensor:
    """Return the Gaussian part of the kernel, with length scale 1: (B, n, m)."""
    return torch.exp(torch.cdist(x, z).square() / (-2 * x.shape[-1]))


def _linear(x: Tensor, z: Tensor) -> Tensor:
    return 1 + LINEAR_WEIGHT / x.shape[-1] * x @ z.mT


def _gradients(x: Tensor, bumps: Tensor, weight: Tensor) -> Tensor:
    """Return the gradient of each regression at its inputs: (B, n, D)."""
    pull = bumps * weight.mT  # (B, n, n)
    nonlinear = pull @ x - pull.sum(-1, keepdim=True) * x
    return (nonlinear + LINEAR_WEIGHT * weight.mT @ x) / x.shape[-1]


def _stretch(gradient: Tensor) -> Tensor:
    """Return the square root of the mean outer product of gradients (B, n, D): (B, D, D)."""
    outer = gradient.mT @ gradient
    value, direction = torch.linalg.eigh(outer)
    value = value.clamp_min(0)
    value = value / value.mean(-1, keepdim=True).clamp_min(1e-30) + _FLOOR
    stretched: Tensor = direction * value.sqrt()[:, None] @ direction.mT
    return stretched
