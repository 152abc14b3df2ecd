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
from counterbc.selection.readings import NOISE_VARIANCES, kernel_matrices


class KernelRegression:
    """Regressions on n inputs (n, D), one for each length scale and variance of the noise."""

    def __init__(self, inputs: Array, device: torch.device) -> None:
        kernel = torch.tensor(kernel_matrices(inputs), dtype=torch.float64, device=device)
        identity = torch.eye(len(inputs)).to(kernel)
        noise = kernel.new_tensor(NOISE_VARIANCES)[:, None, None] * identity
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
