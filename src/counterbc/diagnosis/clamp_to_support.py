"""Keep an action within C(s, a) ∩ A: near what was shown, and feasible."""

from __future__ import annotations

import numpy as np
import torch

from counterbc.data.demonstrations import Array
from counterbc.data.feasible import Feasible

_HALVINGS = 40


def within(shown: Array, wanted: Array, radius: Array, shape: str, feasible: Feasible) -> Array:
    """The action of C(s, a) ∩ A that lies furthest on the way to the wanted one: (N, A).

    The way leads from what was shown, brought into A; for a shown action in A and a ball this ends
    at the point of C(s, a) nearest to the wanted action. A dimension with Δ = 0 does not move.
    Where no feasible action is within Δ of what was shown, the nearest feasible action is given.
    """
    begin = _project(shown, feasible)
    end = np.where(radius > 0, _project(wanted, feasible), begin)
    low, high = np.zeros((len(shown), 1)), np.ones((len(shown), 1))
    for i in range(_HALVINGS):
        t = high if i == 0 else (low + high) / 2  # most need no limit: try the whole way first
        point = begin + t * (end - begin)
        ok = _inside(point - shown, radius, shape) & _contains(point, feasible)
        low, high = np.where(ok[:, None], t, low), np.where(ok[:, None], high, t)
    return np.asarray(begin + low * (end - begin))


def trusted(off: Array, doubt: Array) -> Array:
    """How far to go from what was shown to what is believed, 0 to 1: (N,).

        w = σ² / (σ² + v)        σ² the demonstrator's error, v the judges' at this pair

    is the nearest to what was meant among the points between the two, for errors that know nothing
    of each other. v is how much judges disagree, `doubt` (N,), and σ² what E|off|² leaves of it.
    """
    sigma = max(float((off**2).sum(1).mean() - doubt.mean()), 0.0)
    return np.asarray(sigma / np.maximum(sigma + doubt, 1e-12))


def relative(offset: Array, radius: Array, shape: str) -> Array:
    """How far an offset (N, A) goes, with 1 at the edge of C(s, a): (N,).

    Only dimensions with Δ > 0 count.
    """
    scaled = np.where(radius > 0, offset / np.maximum(radius, 1e-12), 0.0)
    return np.asarray(np.linalg.norm(scaled, axis=1, ord=2 if shape == "ball" else np.inf))


def _inside(offset: Array, radius: Array, shape: str) -> Array:
    still = np.abs(np.where(radius > 0, 0.0, offset)).max(axis=1) <= 1e-6
    return np.asarray((relative(offset, radius, shape) <= 1) & still)


def _project(action: Array, feasible: Feasible) -> Array:
    return feasible.project(torch.from_numpy(np.asarray(action, float))).numpy()


def _contains(action: Array, feasible: Feasible) -> Array:
    return feasible.contains(torch.from_numpy(action)).numpy()
