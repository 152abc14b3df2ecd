"""What kernel regressions read, and their held-out predictions, without torch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.obs_rows import pack_arrays, pixel_rows
from counterbc.selection.folds import Folds

LENGTH_SCALES = (0.5, 1.0)
"""Length scales that are tried, for inputs of variance 1 in each dimension."""
NOISE_VARIANCES = (0.01, 0.1, 0.4)
"""Variances λ of the noise that are tried, relative to the kernel's."""
LINEAR_WEIGHT = 0.1
"""Weight of the linear part of kernels, which reaches beyond the inputs."""
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


def with_image_components(demos: Demonstrations) -> Demonstrations:
    """Return vectors that hold the largest principal components of the images beside them.

    Without a vector, or without cameras beside it, the data are returned as they are.
    """
    if demos.camera or not demos.images:
        return demos
    pixels = np.concatenate([pack_arrays(pixel_rows(e), None) for e in demos.episodes])
    components = _image_readings(pixels)[0]
    obs = np.concatenate([demos.obs, components], axis=1)
    ends = np.cumsum([len(e) for e in demos.episodes])[:-1]
    rows = zip(demos.episodes, np.split(obs, ends), strict=True)
    return replace(
        demos,
        episodes=tuple(replace(e, obs=x, images={}) for e, x in rows),
        obs_keys=(),
        obs_names=(),
        angles=(),
    )


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


def kernel_matrices(inputs: Array) -> Array:
    """Return the kernel of n inputs (n, D) with each length scale: (L, n, n)."""
    x = inputs.astype(np.float64)
    norm, product = (x**2).sum(1), x @ x.T
    square = np.maximum(norm[:, None] + norm - 2 * product, 0) / x.shape[1]
    linear = 1 + LINEAR_WEIGHT / x.shape[1] * product
    return np.stack([np.exp(-square / (2 * h**2)) + linear for h in LENGTH_SCALES])


def predict_held_out(inputs: Array, target: Array, folds: Folds) -> Array:
    """Return the targets (n, A) of each fold as the others predict them: (M, n, A).

    There is one regression for each length scale and variance of the noise. For few inputs;
    `KernelRegression` is quicker where one set of inputs predicts many targets.
    """
    models = [(kernel, noise) for kernel in kernel_matrices(inputs) for noise in NOISE_VARIANCES]
    predicted = np.full((len(models), *target.shape), np.nan)
    for held_out, learned in zip(folds.held_out, folds.learned, strict=True):
        mean = target[learned].mean(0)
        for values, (kernel, noise) in zip(predicted, models, strict=True):
            seen = kernel[np.ix_(learned, learned)] + noise * np.eye(len(learned))
            weight = cho_solve(cho_factor(seen, overwrite_a=True), target[learned] - mean)
            values[held_out] = mean + kernel[np.ix_(held_out, learned)] @ weight
    return predicted
