"""Actions of a dataset in the range [−1, 1], without torch."""

from __future__ import annotations

import numpy as np

from counterbc.data.affine import scale, unscale
from counterbc.data.arrays import Array
from counterbc.data.bounds import rarely_used
from counterbc.data.demonstrations import Demonstrations

DATA, DATA_FULL = "data", "data, full range of rarely used dimensions"


def scaled_actions(demos: Demonstrations, action: Array) -> Array:
    """Map actions (N, A) of a dataset to the range [−1, 1]."""
    low, high, _ = action_range(demos)
    return np.asarray(scale(action, low, high))


def user_actions(demos: Demonstrations, scaled_action: Array) -> Array:
    """Map actions (N, A) in [−1, 1] back to the dataset's units."""
    low, high, _ = action_range(demos)
    return np.asarray(unscale(scaled_action, low.astype(np.float64), high.astype(np.float64)))


def action_range(demos: Demonstrations) -> tuple[Array, Array, str]:
    """Return what is mapped to −1 and to 1, as float32 (A,) each, and where that comes from.

    That is the declared bounds, or else the 1–99 % range of the actions that are learned from, and
    the full range of dimensions that are rarely used.
    """
    if demos.action_low is not None and demos.action_high is not None:
        return demos.action_low, demos.action_high, "declared"
    action = demos.action[demos.learned]
    low, high = np.percentile(action, [1, 99], axis=0)
    rare = rarely_used(low, high, action.min(axis=0), action.max(axis=0))
    low, high = np.where(rare, action.min(axis=0), low), np.where(rare, action.max(axis=0), high)
    constant = high - low <= 1e-6 * np.maximum(1, np.abs(low))
    low, high = np.where(constant, low - 1, low), np.where(constant, high + 1, high)
    return low.astype(np.float32), high.astype(np.float32), DATA_FULL if rare.any() else DATA
