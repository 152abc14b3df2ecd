"""The scale of the demonstrators' noise, from the errors of held-out policies.

A held-out residual is noise plus the error of the policy. Held-out policies did not learn from the
pair, so they cannot hide its noise by fitting it, as a likelihood on the training pairs could.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from counterbc.data.arrays import Array
from counterbc.errors import DataError, OptionError
from counterbc.supports import Ball, Box, Normal, StudentT, Support

_LEAST = 20  # residuals
_TINY = 1e-12
_SHARES = np.arange(100) / 100
"""The shares of the residuals' variance tried for uniform noise."""


def noise_scale(residual: Array, noise: Support) -> Array:
    """Return the radius Δ of each dimension with which this noise explains residuals (n, A): (A,).

    Student's t and Gaussian noise explain all of a residual, so their Δ is an upper bound. Uniform
    noise explains only what the Gaussian error of a policy does not: its Δ is 0 where residuals
    have the tails of a Gaussian or heavier ones.
    """
    if residual.ndim != 2 or len(residual) < _LEAST or not np.isfinite(residual).all():
        raise DataError(
            f"residuals have shape {residual.shape}; the scale of noise needs {_LEAST} or more "
            "finite rows of one number per action dimension"
        )
    if isinstance(noise, StudentT):
        return _student_t_scale(residual, noise.df)
    if isinstance(noise, Normal):
        return np.asarray(np.sqrt((residual**2).mean(0)))
    if isinstance(noise, (Ball, Box)):
        width = np.array([_half_width(r) for r in residual.T])
        dimensions = int((width > 0).sum()) if isinstance(noise, Ball) else 1
        # The variance in one dimension is Δ² / (A + 2) for a ball of A dimensions, Δ² / 3 for a box
        return width * math.sqrt((dimensions + 2) / 3)
    raise OptionError(
        f"{type(noise).__name__} is not a noise of known density; use a ball, a box, student-t or "
        "gaussian, or give the radius"
    )


def _student_t_scale(residual: Array, df: int) -> Array:
    """Return the maximum-likelihood scales of one t-distribution of A dimensions, by EM: (A,)."""
    square = residual**2
    scale = square.mean(0)
    for _ in range(100):
        distance = (square / np.maximum(scale, _TINY)).sum(1, keepdims=True)
        weight = (df + residual.shape[1]) / (df + distance)  # small for outliers
        scale = (weight * square).mean(0)
    return np.asarray(np.sqrt(scale))


def _half_width(residual: Array) -> float:
    """Return the likeliest half-width of uniform noise to which a Gaussian error is added.

    Both together have the variance of the residuals.
    """
    variance = float((residual**2).mean())
    if variance < _TINY:
        return 0.0
    width = np.sqrt(3 * _SHARES * variance)  # (G,)
    std = np.sqrt((1 - _SHARES) * variance)
    z = np.abs(residual)[:, None]  # (n, 1)
    density = np.empty((len(residual), len(_SHARES)))
    density[:, 0] = np.exp(-(z[:, 0] ** 2) / (2 * variance)) / np.sqrt(2 * math.pi * variance)
    # Differences of upper tails, which stay exact where both are far out
    tails = ndtr((width[1:] - z) / std[1:]) - ndtr((-width[1:] - z) / std[1:])
    density[:, 1:] = tails / (2 * width[1:])
    likelihood = np.log(np.maximum(density, 1e-300)).sum(0)  # (G,)
    return float(width[likelihood.argmax()])
