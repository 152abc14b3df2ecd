"""Actions between the user's units and those in which each dimension spans [−1, 1]."""

from __future__ import annotations

import numpy as np
import torch

from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.data.scaling import Scaling
from counterbc.supports.feasible import Everywhere, Feasible, feasible_set


def to_unit(demos: Demonstrations, action: Array) -> Array:
    """Actions (N, A) where each dimension spans [−1, 1]."""
    return _scales(demos).action(torch.tensor(action)[None])[0].numpy()


def from_unit(demos: Demonstrations, unit: Array) -> Array:
    """And back: (N, A)."""
    scales = _scales(demos)
    low, high = (x.double().numpy() for x in (scales.action_low, scales.action_high))  # (1, A)
    return np.asarray(low + (unit + 1) / 2 * (high - low))


def feasible_units(demos: Demonstrations) -> Feasible:
    """A; where no bounds are declared nothing is known to be infeasible."""
    return Everywhere() if demos.action_low is None else feasible_set(demos.action_set)


def _scales(demos: Demonstrations) -> Scaling:
    return Scaling.fit(demos, scale_obs=True, scale_actions=True)
