"""Operator effects: a regression on states in which each operator has a constant of their own.

    a = f(s) + b_o + noise      f: a Gaussian process, with a rough and a linear part

Generalized least squares estimate b. That is the mean residual of operator o from a prediction by
all others, with weights that are large where the others visited the same states. Offsets of the
others are removed from that prediction, so it does not matter that operators who push to one side
are also found in other states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from counterbc.data.arrays import Array
from counterbc.kernels.threads import one_thread
from counterbc.selection.readings import standardize

STATE_LENGTHS = (0.3, 1.0, 3.0)
"""Lengths over which f changes, in standard deviations of the states."""
NOISE_SHARES = tuple(float(x) for x in np.geomspace(1e-3, 10, 9))
"""Variances of the noise relative to that of f."""


@dataclass(frozen=True, eq=False)
class Effects:
    """Constants of O operators and predictions of n actions, in the units of the actions."""

    offset: Array
    """(O, A): b, which sums to zero over operators."""
    se: Array
    """(O, A): the standard error, the larger of that of the model and that over clusters."""
    predicted: Array
    """(n, A): f(s) from the actions of other operators, without their offsets."""


def operator_effects(obs: Array, action: Array, operator: Array, cluster: Array) -> Effects:
    """Estimate the constants of operators from states (n, S) and actions (n, A).

    `operator` and `cluster` are numbers (n,). Errors may be dependent within a cluster.
    """
    states, actions = (torch.tensor(x, dtype=torch.float64) for x in (standardize(obs), action))
    owner, group = torch.tensor(operator), torch.tensor(cluster)
    design = torch.eye(int(owner.max()) + 1, dtype=states.dtype)[owner]  # (n, O)
    with one_thread():
        kernels = [_eigen(_kernel(states, length)) for length in STATE_LENGTHS]
        fits = [_fit(k, design, actions, noise) for k in kernels for noise in NOISE_SHARES]
        best = max(fits, key=lambda fit: fit.log_likelihood)
        offset = best.effect - best.effect.mean(0)
        se = torch.maximum(best.model_se(), best.cluster_se(group))
        predicted = _predict_others(best, actions, owner)
    return Effects(offset.numpy(), se.numpy(), predicted.numpy())


def _kernel(states: Tensor, length: float) -> Tensor:
    """Return the covariance of f: Matérn with smoothness 3/2, plus linear. (n, n)"""
    size = states.shape[1]
    exact = "donot_use_mm_for_euclid_dist"  # the quicker way loses small distances
    r = (3 / size) ** 0.5 / length * torch.cdist(states, states, compute_mode=exact)
    covariance: Tensor = (1 + r) * torch.exp(-r) + states @ states.T / size
    return covariance


def _eigen(kernel: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    values, vectors = torch.linalg.eigh(kernel)
    return kernel, values.clamp(min=0.0), vectors


@dataclass(frozen=True, eq=False)
class _Fit:
    """Generalized least squares with one kernel and one noise."""

    kernel: Tensor
    noise: float
    effect: Tensor  # (O, A)
    weight: Tensor  # (O, n): effect = weight @ action
    covariance: Tensor  # (O, O), for a variance of 1
    variance: Tensor  # (A,)
    left_out: Tensor  # (n, A): residuals of each action, predicted from all others
    log_likelihood: float

    @property
    def _centre(self) -> Tensor:
        count = len(self.effect)
        return torch.eye(count, dtype=self.effect.dtype) - 1 / count

    def model_se(self) -> Tensor:
        """Return standard errors for independent noise: (O, A)."""
        spread = (self._centre @ self.covariance @ self._centre).diagonal().clamp(min=0)
        return torch.sqrt(spread[:, None] * self.variance)

    def cluster_se(self, cluster: Tensor) -> Tensor:
        """Return standard errors for noise that is dependent within clusters: (O, A)."""
        weight, count = self._centre @ self.weight, int(cluster.max()) + 1
        terms = weight.T[:, :, None] * self.left_out[:, None]  # (n, O, A)
        sums = terms.new_zeros(count, *self.effect.shape).index_add_(0, cluster, terms)
        return torch.sqrt((sums**2).sum(0) * count / max(count - 1, 1))


def _fit(
    eigen: tuple[Tensor, Tensor, Tensor], design: Tensor, action: Tensor, noise: float
) -> _Fit:
    kernel, values, vectors = eigen
    inverse = 1 / (values + noise)  # (n,)
    x, y = vectors.T @ design, vectors.T @ action
    gram = x.T @ (inverse[:, None] * x)  # (O, O)
    covariance = torch.linalg.inv(gram)
    weight = covariance @ (x * inverse[:, None]).T @ vectors.T
    effect = weight @ action
    residual = y - x @ effect
    freedom = len(action) - design.shape[1]
    variance = (inverse[:, None] * residual**2).sum(0) / freedom
    # The restricted likelihood, in which f's variance and the constants are integrated out.
    spread = torch.log(values + noise).sum() + torch.linalg.slogdet(gram)[1]
    log_likelihood = -0.5 * (freedom * torch.log(variance) + spread).sum()
    left_out = vectors @ (inverse[:, None] * residual) / (vectors**2 @ inverse)[:, None]
    return _Fit(
        kernel=kernel, noise=noise, effect=effect, weight=weight, covariance=covariance,
        variance=variance, left_out=left_out, log_likelihood=float(log_likelihood),
    )  # fmt: skip


def _predict_others(fit: _Fit, action: Tensor, operator: Tensor) -> Tensor:
    """Return f at each state from the actions of the other operators: (n, A)."""
    predicted, free = torch.empty_like(action), action - fit.effect[operator]
    for o in range(len(fit.effect)):
        own, rest = operator == o, operator != o
        within = fit.kernel[rest][:, rest]
        within.diagonal().add_(fit.noise)
        solution = torch.cholesky_solve(free[rest], torch.linalg.cholesky(within))
        predicted[own] = fit.kernel[own][:, rest] @ solution
    return predicted
