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
_OUTLIERS = 0.02
"""The share of residuals that uniform noise need not explain."""
_EVIDENCE = 1.92
"""The log-likelihood that uniform noise must gain over none: a likelihood-ratio test at 5 %."""
_WIDTHS = np.linspace(0, 2, 51)
"""Half-widths of uniform noise that are tried, as multiples of the RMS residual."""
_STDS = np.geomspace(0.03, 1.2, 20)
"""Standard deviations of the policy's error that are tried, likewise."""


def noise_scale(residual: Array, noise: Support) -> Array:
    """Return the radius Δ of each dimension with which this noise explains residuals (n, A): (A,).

    Student's t and Gaussian noise explain all of a residual, so their Δ is an upper bound. Uniform
    noise explains only what the Gaussian error of a policy does not: its Δ is 0 unless residuals
    are significantly more like uniform numbers than like Gaussian ones.
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
    """Return the likeliest half-width of uniform noise, beside a Gaussian error of the policy.

    A few residuals may be anything: otherwise one bad prediction would hide the noise.
    """
    rms = float(np.sqrt((residual**2).mean()))
    if rms**2 < _TINY:
        return 0.0
    z = np.abs(residual)  # (n,)
    anything = _OUTLIERS / (2 * z.max())
    std = rms * _STDS[:, None]  # (G, 1)
    widths = rms * _WIDTHS  # (W,)
    likelihood = np.empty(len(widths))
    for i, width in enumerate(widths):
        if width == 0:
            density = np.exp(-((z / std) ** 2) / 2) / (math.sqrt(2 * math.pi) * std)  # (G, n)
        else:
            density = (ndtr((width - z) / std) - ndtr((-width - z) / std)) / (2 * width)
        likelihood[i] = np.log((1 - _OUTLIERS) * density + anything).sum(1).max()
    best = int(likelihood.argmax())
    return float(widths[best]) if likelihood[best] > likelihood[0] + _EVIDENCE else 0.0
