"""Keep an action in C(s, a) ∩ A: near the demonstrated action, and feasible."""

from __future__ import annotations

import numpy as np
import torch

from counterbc.data.arrays import Array
from counterbc.data.feasible import Feasible
from counterbc.errors import OptionError

_HALVINGS = 40
_NORMS = {"ball": 2, "box": np.inf}
"""The norm whose unit ball is C(s, a) / Δ."""


def within(center: Array, target: Array, radius: Array, shape: str, feasible: Feasible) -> Array:
    """Return the action of C(s, a) ∩ A that is furthest on the way to the target: (N, A).

    The way starts at the demonstrated action, projected to A. For a ball and a feasible action it
    ends at the point of C(s, a) nearest to the target. A dimension with Δ = 0 does not move. If no
    feasible action is within Δ of the demonstrated one, the nearest feasible action is returned.
    """
    begin = _project(center, feasible)
    end = np.where(radius > 0, _project(target, feasible), begin)
    way = end - begin

    def allowed(rows: Array | slice, t: Array) -> Array:
        point = begin[rows] + t * way[rows]
        inside = _inside(point - center[rows], radius, shape)
        return np.asarray(inside & _contains(point, feasible))

    share = np.ones((len(center), 1))  # of the way; most need no limit
    rows = np.flatnonzero(~allowed(slice(None), share))
    low, high = np.zeros((len(rows), 1)), np.ones((len(rows), 1))
    for _ in range(_HALVINGS - 1):
        t = (low + high) / 2
        ok = allowed(rows, t)[:, None]
        low, high = np.where(ok, t, low), np.where(ok, high, t)
    share[rows] = low
    return np.asarray(begin + share * way)


def prediction_trust(residual: Array, disagreement: Array) -> Array:
    """Return how far to go from the demonstrated to the predicted action, 0 to 1: (N,).

        w = σ² / (σ² + v)        σ² the demonstrator's error, v the policies' at this pair

    is the nearest to the meant action among the points between the two, if the errors are
    independent. v is the `disagreement` of the policies (N,), and σ² = E|residual|² − v.
    """
    sigma = max(float((residual**2).sum(1).mean() - disagreement.mean()), 0.0)
    return np.asarray(sigma / np.maximum(sigma + disagreement, 1e-12))


def share_of_radius(offset: Array, radius: Array, shape: str) -> Array:
    """Return the length of an offset (N, A), with 1 at the edge of C(s, a): (N,).

    Only dimensions with Δ > 0 count. Shapes that have no edge are refused.
    """
    if shape not in _NORMS:
        raise OptionError(
            f"shape is {shape}, which does not limit how far a meant action may lie; "
            f"allowed: {', '.join(_NORMS)}"
        )
    ratio = np.where(radius > 0, offset / np.maximum(radius, 1e-12), 0.0)
    return np.asarray(np.linalg.norm(ratio, axis=1, ord=_NORMS[shape]))


def _inside(offset: Array, radius: Array, shape: str) -> Array:
    still = np.abs(np.where(radius > 0, 0.0, offset)).max(axis=1) <= 1e-6
    return np.asarray((share_of_radius(offset, radius, shape) <= 1) & still)


def _project(action: Array, feasible: Feasible) -> Array:
    return feasible.project(torch.from_numpy(np.asarray(action, float))).numpy()


def _contains(action: Array, feasible: Feasible) -> Array:
    return feasible.contains(torch.from_numpy(action)).numpy()
