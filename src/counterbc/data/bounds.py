"""The bounds of the actions: checked, and in words."""

from __future__ import annotations

from typing import Literal

import numpy as np

from counterbc.data.affine import scale
from counterbc.data.arrays import Array, read_only
from counterbc.errors import DataError, unknown

ActionSet = Literal["box", "ball"]
RARE = 3
"""Times that the full range exceeds the 1–99 % range in a dimension that is rarely used."""


def checked_bounds(
    low: Array | None, high: Array | None, action_set: str, size: int
) -> tuple[Array, Array] | None:
    """Return both bounds as read-only (A,) arrays, or None where they are unknown."""
    if action_set not in ("box", "ball"):
        raise unknown("action set", action_set, ("box", "ball"))
    if (low is None) != (high is None):
        missing = "action_low" if low is None else "action_high"
        raise DataError(f"action_low and action_high must both be given, or neither; add {missing}")
    if low is None or high is None:
        if action_set == "ball":
            raise DataError(
                "an action set 'ball' needs action_low and action_high; give both, or use 'box'"
            )
        return None
    low = read_only(low, np.float32, "action_low")
    high = read_only(high, np.float32, "action_high")
    if low.shape != (size,) or high.shape != (size,):
        raise DataError(
            f"action bounds have shapes {low.shape} and {high.shape}; expected ({size},) each"
        )
    valid = np.isfinite(low) & np.isfinite(high) & (low < high)
    if not valid.all():
        i = int(np.argmin(valid))
        raise DataError(
            f"the bounds of action dimension {i} are {low[i]:g} and {high[i]:g}; they must be "
            "finite with low < high: correct them, or leave out action_low and action_high"
        )
    return low, high


def rarely_used(low: Array, high: Array, lowest: Array, highest: Array) -> Array:
    """Return whether the full range of each dimension exceeds its 1–99 % range `RARE` times.

    Scaled by the smaller range, a dimension that is rarely used would dominate all distances.
    """
    moves = highest - lowest > 1e-6 * np.maximum(1, np.abs(lowest))
    return np.asarray(moves & (highest - lowest > RARE * (high - low)))


def outside_bounds(action: Array, low: Array | None, high: Array | None, action_set: str) -> Array:
    """Return whether each action (N, A) lies outside its bounds, beyond rounding: (N,) bool."""
    if low is None or high is None:
        return np.zeros(len(action), dtype=bool)
    scaled_action = scale(action, low, high)
    if action_set == "ball":
        return np.asarray(np.linalg.norm(scaled_action, axis=1) > 1 + 1e-5)
    return np.asarray((np.abs(scaled_action) > 1 + 1e-5).any(axis=1))


def bounds_text(low: Array | None, high: Array | None, action_set: str) -> str:
    """Return the bounds in words."""
    if low is None or high is None:
        return "unknown (the 1–99 % range of the data will be used)"
    lows, highs = np.unique(low), np.unique(high)
    if len(lows) == len(highs) == 1:
        text = f"[{lows[0]:g}, {highs[0]:g}] in every dimension"
    else:
        text = " ".join(f"[{a:g}, {b:g}]" for a, b in zip(low, high, strict=True))
    return text + (", within the ball" if action_set == "ball" else "")
