"""The radius chosen by held-out errors (R, K, G) of R repeats, K folds and G radii."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterbc.data.demonstrations import Array


def without_diverged(errors: Array) -> Array:
    """Return the errors (R, K, G, A) of candidates that can be compared; the others are NaN.

    A policy that diverged has no error. Its candidate loses, which must not end a search: initial
    weights and batches are shared, so all candidates may diverge in the same fold. The candidate
    that diverged in the fewest folds says which folds count, and a candidate that diverged in any
    of these is NaN in all. Where folds are left out, repeats are joined: (1, folds, G, A).
    """
    finite = np.asarray(np.isfinite(errors).all(-1))  # (R, K, G)
    if finite.all():
        return errors
    steadiest = int(finite.sum((0, 1)).argmax())
    folds = finite[:, :, steadiest]  # (R, K)
    kept = errors if folds.all() else errors[folds][None]
    stays = np.asarray(finite[folds].all(0))  # (G,)
    return np.where(stays[:, None], kept, np.nan)


def finite_mean(values: Array, axis: int = 0) -> Array:
    """Return the mean of the finite values along a dimension; NaN where there is none."""
    finite = np.isfinite(values)
    count = finite.sum(axis)
    mean = np.where(finite, values, 0.0).sum(axis) / np.maximum(count, 1)
    return np.where(count > 0, mean, np.nan)


def mean_and_error(values: Array) -> tuple[Array, Array]:
    """Return the mean of (R, K, G) values and its standard error over folds: (G,) each.

    Repeats see the same pairs again, so they do not lower the standard error. It is 0 for a single
    fold, where all others diverged.
    """
    count = values.shape[1]
    spread = values.var(1, ddof=1 if count > 1 else 0).mean(0)
    return values.mean((0, 1)), np.sqrt(spread / count)


def plateau(radii: Sequence[float], errors: Array) -> tuple[float, ...]:
    """Return the radii whose errors exceed the smallest by at most one standard error."""
    best = int(np.nanargmin(errors.mean((0, 1))))
    above, se = mean_and_error(errors - errors[:, :, best : best + 1])
    alike = (above <= se) | (np.arange(len(radii)) == best)
    return tuple(r for r, yes in zip(radii, alike, strict=True) if yes)


def best_radius(radii: Sequence[float], errors: Array) -> float:
    """Return the radius halfway from the smallest error to the largest radius of the plateau.

    A radius that is too small costs more return than one that is too large by as much.
    """
    return round((least_radius(radii, errors) + plateau(radii, errors)[-1]) / 2, 3)


def least_radius(radii: Sequence[float], errors: Array) -> float:
    """Return the radius of the smallest mean error, by a parabola through it and its neighbours."""
    curve = np.nan_to_num(errors.mean((0, 1)), nan=np.inf)
    g = int(curve.argmin())
    if g in (0, len(radii) - 1) or not np.isfinite(curve[g - 1 : g + 2]).all():
        return float(radii[g])
    a, b, _ = np.polyfit(radii[g - 1 : g + 2], curve[g - 1 : g + 2], 2)
    return round(float(-b / (2 * a)), 3) if a > 0 else float(radii[g])
