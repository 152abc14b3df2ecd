"""Residuals of episodes that do more or less in a step, made comparable.

Whoever does the same thing faster differs from what policies predict that learned from others, and
every error grows with how much is done. Neither makes a demonstration bad. So with the demonstrated
actions a_t, the held-out predictions μ_t and the speed v of an episode,

    g  = Σ a_t · μ_t / Σ |μ_t|²            how much is done of what is predicted
    r  = a − g μ                           what is left beside doing more or less of it
    log mean |r|² ≈ c + β log v            the usual size of r, by robust regression

and residuals are divided by v^(β/2). β of an episode is estimated from other episodes. All of this
happens only if episodes clearly differ in g; otherwise residuals stay as they are. The noise of an
episode raises its speed but hardly its g, so that noisy episodes are not taken for fast ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from counterbc.data.action_scale import scaled_actions
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.diagnosis.equal_lengths import equal_lengths
from counterbc.diagnosis.kinematics import speeds

LEAST_DIFFERENCE = 0.1
"""Relative differences in gain, as a robust standard deviation, below which nothing is adjusted."""
_CLEAR = 2.0  # standard errors of a gain by which episodes must differ
_GAINS = (1 / 3, 3.0)  # smallest and largest gain: beyond, something else is done
_LEAST_EPISODES, _FOLDS = 10, 5
_LEAST_PAIRS = 3  # of an episode whose gain is estimated
_MOST_EPISODES = 500  # from which the slope is estimated
_NORMAL = 1.4826  # standard deviation of a normal distribution over its median deviation


@dataclass(frozen=True, eq=False)
class Effort:
    """How much more or less the E episodes do than is predicted, and how errors grow with it."""

    gain: Array
    """(E,): g; 1 where episodes do not clearly differ."""
    size: Array
    """(E,): the usual size of a residual at the speed of the episode, relative to the median."""

    @staticmethod
    def of(demos: Demonstrations, residual: Array, predicted: Array) -> Effort:
        """Estimate gains and sizes from residuals and predictions, (N, A) each.

        Residuals are in units in which actions span [−1, 1], NaN where unknown; predictions in the
        user's units, whose zero is doing nothing.
        """
        count = len(demos)
        same = Effort(np.ones(count), np.ones(count))
        aim = _from_zero(demos, predicted)
        gain, variance = _gains(*_finite(demos, residual, aim))
        is_known = np.isfinite(gain)
        if is_known.sum() < _LEAST_EPISODES:
            return same
        logs = np.where(is_known, np.log(np.where(is_known, gain, 1.0)), 0.0)
        deviation, middle = _deviation(logs[is_known]), float(np.median(logs[is_known]))
        sampling = float(np.median(variance[is_known]))
        if deviation < max(LEAST_DIFFERENCE, _CLEAR * np.sqrt(sampling)):
            return same
        between = deviation**2 - sampling
        trust = np.where(is_known, between / (between + variance), 0.0)  # shrinks unsure gains
        gain = np.exp(middle + trust * (logs - middle))
        left = residual + (1 - _per_pair(demos, gain)) * aim
        return Effort(gain, _usual_sizes(_finite(demos, left)[0], speeds(demos)))

    def comparable(self, demos: Demonstrations, residual: Array, predicted: Array) -> Array:
        """Return residuals (N, A) without differences in gain, in units of their usual size."""
        if (self.gain == 1).all() and (self.size == 1).all():
            return residual
        aim = _from_zero(demos, predicted)
        left = residual + (1 - _per_pair(demos, self.gain)) * aim
        return np.asarray(left / _per_pair(demos, self.size))


def comparable_residuals(demos: Demonstrations, residual: Array, predicted: Array) -> Array:
    """Return residuals (N, A) that do not depend on how fast an episode is."""
    return Effort.of(demos, residual, predicted).comparable(demos, residual, predicted)


def _from_zero(demos: Demonstrations, predicted: Array) -> Array:
    """Return predictions as scaled distances from the action 0."""
    zero = np.zeros((1, demos.action_size))
    return np.asarray(scaled_actions(demos, predicted) - scaled_actions(demos, zero))


def _per_pair(demos: Demonstrations, values: Array) -> Array:
    """Return the value of each pair's episode: (N, 1)."""
    return np.repeat(values, demos.lengths)[:, None]


def _gains(residuals: list[Array], aims: list[Array]) -> tuple[Array, Array]:
    """Return the gain of each episode and the sampling variance of its logarithm: (E,) each.

    NaN for short episodes and for those that are predicted to do nothing.
    """
    gain, variance = np.full((2, len(residuals)), np.nan)
    for episodes, residual, aim in equal_lengths(residuals, aims):
        residual, aim = (x.reshape(len(x), -1) for x in (residual, aim))  # (E, T A)
        power = (aim**2).sum(1)
        rows = power > 0
        if len(residuals[episodes[0]]) < _LEAST_PAIRS or not rows.any():
            continue
        episodes, residual, aim, power = (x[rows] for x in (episodes, residual, aim, power))
        g = np.clip(1 + (residual * aim).sum(1) / power, *_GAINS)
        left = residual + (1 - g)[:, None] * aim
        gain[episodes], variance[episodes] = g, (left**2).mean(1) / power / g**2
    return gain, variance


def _finite(demos: Demonstrations, residual: Array, *others: Array) -> list[list[Array]]:
    """Return residuals (N, A) and other values of the pairs whose residuals are finite, split into
    those of each episode."""
    is_known = np.isfinite(residual).all(1)  # (N,)
    ends = np.cumsum(is_known)[np.cumsum(demos.lengths) - 1]
    return [np.split(x[is_known], ends[:-1]) for x in (residual, *others)]


def _usual_sizes(residuals: list[Array], speed: Array) -> Array:
    """Return the root mean square of residuals that is usual at each episode's speed, by slopes
    from the other folds, relative to the median: (E,)."""
    squares = np.full(len(residuals), np.nan)
    for episodes, r in equal_lengths(residuals):
        squares[episodes] = (r**2).sum(2).mean(1)
    is_known = (squares > 0) & (speed > 0)  # False for NaN
    if is_known.sum() < _LEAST_EPISODES:
        return np.ones(len(squares))
    x, y = (np.log(np.where(is_known, v, 1.0)) for v in (speed, squares))
    slope = np.zeros(len(x))
    fold = np.random.default_rng(0).permutation(len(x)) % _FOLDS
    for k in range(_FOLDS):
        rows = np.flatnonzero((fold != k) & is_known)[:_MOST_EPISODES]
        slope[fold == k] = _slope(x[rows], y[rows])
    off = np.where(is_known, x - np.median(x[is_known]), 0.0)
    return np.asarray(np.exp(slope * off / 2))


def _slope(x: Array, y: Array) -> float:
    """Return the robust slope of y over x; 0 if it is not clearly above 0."""
    if not np.ptp(x) > 0:
        return 0.0
    fit = stats.theilslopes(y, x)
    return float(fit.slope) if fit.low_slope > 0 else 0.0


def _deviation(values: Array) -> float:
    """Return a standard deviation that is robust to a few outliers."""
    return _NORMAL * float(np.median(np.abs(values - np.median(values))))
