"""Censored actions: those recorded on a bound, where what was asked for may lie beyond it."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import DataError

ActionsAre = Literal["asked", "taken"]
ACTIONS_ARE: tuple[str, ...] = get_args(ActionsAre)
"""What recorded actions may be: what was asked for, or what was taken after a cut at the bounds."""
_ROUNDING = 1e-6  # of the span between the bounds


def check_actions_are(value: str | None) -> None:
    """Refuse any other word for what the recorded actions are."""
    if value is not None and value not in ACTIONS_ARE:
        raise DataError(
            f"actions_are is {value!r:.40}; allowed: asked (recorded uncut), taken (cut at the "
            "bounds), or None where it is not known"
        )


def bound_sides(action: Array, low: Array, high: Array) -> Array:
    """Return 1 where an action lies on its upper bound, −1 on its lower one, else 0: (N, A)."""
    near = _ROUNDING * (high - low)
    upper, lower = np.abs(action - high) <= near, np.abs(action - low) <= near
    return np.asarray(upper.astype(np.int8) - lower.astype(np.int8))
