"""The radius Δ of each action dimension, from one number or one per dimension."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError

Radius = float | Sequence[float]
FEW = 20
"""Among fewer pairs any dimension may take two values without being a switch."""


def two_valued(datasets: Sequence[Demonstrations]) -> NDArray[np.bool_]:
    """Return which action dimensions take two values only, such as a gripper: (A,)."""
    action = np.concatenate([d.action[d.learned] for d in datasets])
    if len(action) < FEW:
        return np.zeros(action.shape[1], bool)
    low, high = action.min(0), action.max(0)
    switches: NDArray[np.bool_] = ((action == low) | (action == high)).all(0) & (low < high)
    return switches


def radius_of(radius: Radius | str, datasets: Sequence[Demonstrations]) -> tuple[float, ...]:
    """Return the radius of each action dimension.

    A single number leaves two-valued dimensions at 0: no demonstrator means an action between
    their two values.
    """
    size = datasets[0].action_size
    try:
        values = tuple(np.asarray(radius, dtype=float).reshape(-1).tolist())
    except ValueError:
        raise OptionError(
            f"radius is {radius!r}; it must be a number, or one per action dimension"
        ) from None
    if np.ndim(radius) == 0:
        switches = two_valued(datasets) & (values[0] > 0)
        values = tuple(0.0 if switch else values[0] for switch in switches)
    if len(values) != size:
        sizes = "one action dimension; give one"
        if size > 1:
            sizes = f"{size} action dimensions; give 1 or {size}"
        raise OptionError(f"{len(values)} radii for {sizes}")
    if not all(np.isfinite(v) and v >= 0 for v in values):
        raise OptionError(f"radius is {radius}; it must be 0 or more (0 is plain behavior cloning)")
    return values
