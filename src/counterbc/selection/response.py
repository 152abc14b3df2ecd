"""What policies predict of the actions beyond the last two of them.

    response = 1 − Σ|remainder − b surplus|² / Σ|remainder|²

The remainder is the actions, and the surplus their predictions, each less its regression on the
last two recorded actions; b ≥ 0 is fitted by least squares in each dimension. Policies that read
the previous action and repeat it have no surplus that says anything about the remainder, however
well they read it. Policies that respond to what they see have one.

The regression is a polynomial of each past action of all dimensions: a linear one would leave part
of actions that switch between two values and mostly stay at one, which policies that repeat them
predict.
"""

from __future__ import annotations

import numpy as np

from counterbc.data.action_scale import scaled_actions
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.selection.readings import standardize
from counterbc.selection.shares import Share

_DEGREE = 5  # of the polynomials
_ROUNDING = 1e-12  # of a sum of squares


def response_share(
    demos: Demonstrations, action: Array, residual: Array, cluster: Array
) -> Share | None:
    """Return the share of what the last two actions leave that predictions explain beyond them.

    `action` (N, A) is the action to predict at each step, which with a lag is not the recorded one;
    `residual` (N, A) is that action minus its prediction, NaN for pairs that do not count. Both are
    in units in which actions span [−1, 1]. `cluster` (N,) is the episode. None for episodes of at
    most two steps.
    """
    steps = np.arange(len(action))
    steps = steps[np.isfinite(residual).all(1) & (steps >= demos.starts + 2)]  # (n,)
    if not len(steps):
        return None
    recorded = scaled_actions(demos, demos.action.astype(np.float64))
    past = standardize(np.concatenate([recorded[steps - 1], recorded[steps - 2]], axis=1))
    powers = [past**k for k in range(1, _DEGREE + 1)]
    inputs = np.column_stack([np.ones(len(steps)), *powers])  # (n, 1 + 10A)
    prediction = (action - residual)[steps]  # (n, A)
    remainder, surplus = _rest(action[steps], inputs), _rest(prediction, inputs)
    size = np.maximum((surplus**2).sum(0), _ROUNDING * (prediction**2).sum(0))  # (A,)
    b = np.maximum((remainder * surplus).sum(0), 0) / np.where(size > 0, size, 1)  # (A,)
    squares = ((remainder - b * surplus) ** 2).sum(1)
    return Share.of(squares, (remainder**2).sum(1), cluster[steps])


def _rest(target: Array, inputs: Array) -> Array:
    """Return what a linear regression on the inputs leaves of the target: (n, A)."""
    return np.asarray(target - inputs @ np.linalg.lstsq(inputs, target)[0])
