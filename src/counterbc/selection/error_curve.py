"""The radius chosen by held-out errors (R, K, G) of R repeats, K folds and G radii."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterbc.data.demonstrations import Array


def mean_and_error(values: Array) -> tuple[Array, Array]:
    """Return the mean of (R, K, G) values and its standard error over folds: (G,) each.

    Repeats see the same pairs again, so they do not lower the standard error.
    """
    count = values.shape[1]
    return values.mean((0, 1)), np.sqrt(values.var(1, ddof=1).mean(0) / count)


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
