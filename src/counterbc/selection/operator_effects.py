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
from scipy.linalg import eigh, solve
from scipy.spatial.distance import cdist

from counterbc.data.arrays import Array

LENGTHS = (0.3, 1.0, 3.0)
"""Lengths over which f changes, in standard deviations of the states."""
NOISES = tuple(float(x) for x in np.geomspace(1e-3, 10, 9))
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
    unit = standardized(obs)
    kernels = [_eigen(_kernel(unit, length)) for length in LENGTHS]
    design = np.eye(int(operator.max()) + 1)[operator]  # (n, O)
    fits = [_fit(k, design, action, noise) for k in kernels for noise in NOISES]
    best = max(fits, key=lambda fit: fit.log_likelihood)
    return Effects(
        offset=best.effect - best.effect.mean(0),
        se=np.maximum(best.model_se(), best.cluster_se(cluster)),
        predicted=_predict_others(best, action, operator),
    )


def standardized(obs: Array) -> Array:
    """Return states (n, S) with mean 0 and standard deviation 1; constant dimensions are 0."""
    mean, scale = obs.mean(0), obs.std(0)
    return np.asarray((obs - mean) / np.where(scale > 1e-6 * np.maximum(1, np.abs(mean)), scale, 1))


def _kernel(unit: Array, length: float) -> Array:
    """Return the covariance of f: Matérn with smoothness 3/2, plus linear. (n, n)"""
    size = unit.shape[1]
    r = np.sqrt(3 / size) / length * cdist(unit, unit)
    return np.asarray((1 + r) * np.exp(-r) + unit @ unit.T / size)


def _eigen(kernel: Array) -> tuple[Array, Array, Array]:
    values, vectors = eigh(kernel)
    return kernel, np.maximum(values, 0.0), vectors


@dataclass(frozen=True, eq=False)
class _Fit:
    """Generalized least squares with one kernel and one noise."""

    kernel: Array
    noise: float
    effect: Array  # (O, A)
    weight: Array  # (O, n): effect = weight @ action
    covariance: Array  # (O, O), for a variance of 1
    variance: Array  # (A,)
    left_out: Array  # (n, A): residuals of each action, predicted from all others
    log_likelihood: float

    @property
    def _centre(self) -> Array:
        count = len(self.effect)
        return np.eye(count) - 1 / count

    def model_se(self) -> Array:
        """Return standard errors for independent noise: (O, A)."""
        spread = np.diag(self._centre @ self.covariance @ self._centre)
        return np.asarray(np.sqrt(np.maximum(spread, 0)[:, None] * self.variance))

    def cluster_se(self, cluster: Array) -> Array:
        """Return standard errors for noise that is dependent within clusters: (O, A)."""
        weight, count = self._centre @ self.weight, int(cluster.max()) + 1
        sums = np.zeros((count, *self.effect.shape))
        np.add.at(sums, cluster, weight.T[:, :, None] * self.left_out[:, None])
        return np.asarray(np.sqrt((sums**2).sum(0) * count / max(count - 1, 1)))


def _fit(eigen: tuple[Array, Array, Array], design: Array, action: Array, noise: float) -> _Fit:
    kernel, values, vectors = eigen
    inverse = 1 / (values + noise)  # (n,)
    x, y = vectors.T @ design, vectors.T @ action
    gram = x.T @ (inverse[:, None] * x)  # (O, O)
    covariance = np.linalg.inv(gram)
    weight = covariance @ (x * inverse[:, None]).T @ vectors.T
    effect = weight @ action
    residual = y - x @ effect
    freedom = len(action) - design.shape[1]
    variance = (inverse[:, None] * residual**2).sum(0) / freedom
    # The restricted likelihood, in which f's variance and the constants are integrated out.
    spread = np.log(values + noise).sum() + np.linalg.slogdet(gram)[1]
    log_likelihood = -0.5 * (freedom * np.log(variance) + spread).sum()
    left_out = vectors @ (inverse[:, None] * residual) / (vectors**2 @ inverse)[:, None]
    return _Fit(
        kernel=kernel, noise=noise, effect=effect, weight=weight, covariance=covariance,
        variance=variance, left_out=left_out, log_likelihood=float(log_likelihood),
    )  # fmt: skip


def _predict_others(fit: _Fit, action: Array, operator: Array) -> Array:
    """Return f at each state from the actions of the other operators: (n, A)."""
    predicted, free = np.empty_like(action), action - fit.effect[operator]
    for o in range(len(fit.effect)):
        own, rest = np.flatnonzero(operator == o), np.flatnonzero(operator != o)
        within = fit.kernel[np.ix_(rest, rest)] + fit.noise * np.eye(len(rest))
        solution = solve(within, free[rest], assume_a="pos")
        predicted[own] = fit.kernel[np.ix_(own, rest)] @ solution
    return predicted
