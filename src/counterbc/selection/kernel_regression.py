"""Gaussian-process regression, whose held-out predictions have a closed form.

With the kernel matrix K of n inputs and P = (K + λI)⁻¹, the prediction of the targets S from the
others, O, is −P_SS⁻¹ P_SO y_O. So one inverse serves every fold and every target, and no random
training blurs small differences between them.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from counterbc.data.arrays import Array
from counterbc.selection.folds import Folds

LENGTH_SCALES = (0.5, 1.0)
"""Length scales that are tried, for inputs of variance 1 in each dimension."""
NOISE_VARIANCES = (0.01, 0.1, 0.4)
"""Variances λ of the noise that are tried, relative to the kernel's."""
_LINEAR = 0.1  # weight of the linear part, which reaches beyond the inputs
_COMPONENTS = 32  # principal components that are read of images
_LEAST_VARIANCE = 1e-6  # of a direction that is read, relative to the largest


def readings(obs: Array) -> list[Array]:
    """Return observations (n, …) as a kernel may read them: standardized, and whitened.

    Two positions in a row hold a velocity. Standardized, it is a small difference of two large
    numbers; whitened, it is a direction like any other.
    """
    flat = obs.reshape(len(obs), -1)
    if obs.ndim > 2:
        return _image_readings(flat)
    scaled = standardize(flat)
    scaled = scaled[:, scaled.any(0)]
    if not scaled.size:
        return [np.zeros((len(obs), 1))]
    variance, direction = np.linalg.eigh(scaled.T @ scaled / len(obs))
    is_used = variance > _LEAST_VARIANCE * variance[-1]
    return [scaled, scaled @ direction[:, is_used] / np.sqrt(variance[is_used])]


def standardize(obs: Array) -> Array:
    """Return states (n, S) with mean 0 and standard deviation 1; constant dimensions are 0."""
    centered = obs.astype(float) - obs.mean(0, dtype=float)
    std = centered.std(0)
    is_used = std > _LEAST_VARIANCE * np.maximum(1, np.abs(obs).max(0))
    return np.where(is_used, centered / np.where(is_used, std, 1.0), 0.0)


def _image_readings(flat: Array) -> list[Array]:
    """Return the largest principal components of images, as they are and whitened: (n, ≤ 32)."""
    centered = flat.astype(np.float32) - flat.mean(0, dtype=np.float32)
    variance, vector = np.linalg.eigh((centered @ centered.T).astype(float))
    is_used = np.flatnonzero(variance > _LEAST_VARIANCE * variance[-1])[-_COMPONENTS:]
    if variance[-1] <= 0:
        return [np.zeros((len(flat), 1))]
    whitened = vector[:, is_used] * np.sqrt(len(flat))
    return [whitened * np.sqrt(variance[is_used] / variance[is_used].mean()), whitened]


class KernelRegression:
    """Regressions on n inputs (n, D), one for each length scale and variance of the noise."""

    def __init__(self, inputs: Array, device: torch.device) -> None:
        x = torch.tensor(inputs, dtype=torch.float64, device=device)
        size = x.shape[1]
        linear = 1 + _LINEAR / size * (x @ x.T)
        square = torch.cdist(x, x) ** 2 / size
        kernel = torch.stack([torch.exp(-square / (2 * h**2)) + linear for h in LENGTH_SCALES])
        noise = x.new_tensor(NOISE_VARIANCES)[:, None, None] * torch.eye(len(x)).to(x)
        kernel = (kernel[:, None] + noise).flatten(0, 1)  # (M, n, n)
        self.precision = torch.cholesky_inverse(torch.linalg.cholesky(kernel))

    def predict(self, target: Array, folds: Folds, is_known: Array) -> Array:
        """Return the targets (n, A) of each fold as the others predict them: (M, n, A).

        Targets that are not known, (n,), are predicted too; nothing is learned from them.
        """
        p = self.precision
        y = torch.tensor(target, dtype=p.dtype, device=p.device)
        known = torch.tensor(is_known, device=p.device)
        predicted = p.new_full((len(p), *y.shape), torch.nan)
        for held_out, learned in zip(folds.held_out, folds.learned, strict=True):
            is_learned = torch.zeros_like(known)
            is_learned[learned] = True
            is_learned &= known
            hidden = (~is_learned).nonzero()[:, 0]
            mean = y[is_learned].mean(0)
            rest = torch.where(is_learned[:, None], y - mean, 0.0)
            values = mean - _solve(p[:, hidden[:, None], hidden], p[:, hidden] @ rest)
            at = torch.tensor(held_out, device=p.device)
            predicted[:, at] = values[:, torch.searchsorted(hidden, at)]
        return np.asarray(predicted.cpu().numpy())


def _solve(matrix: Tensor, right: Tensor) -> Tensor:
    return torch.cholesky_solve(right, torch.linalg.cholesky(matrix))
