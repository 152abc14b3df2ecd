"""Variance components of an episode's residuals: noise, persistent error, and model error.

With the residual r_t = demonstrated − predicted along an episode of T pairs,

    noise       = ½ mean |r_(t+1) − r_t|²     errors that are new at every step
    persistent  = mean r_t · r_(t+1)          errors that stay: a bias, a delay, another goal

and mean |r|² is about their sum. Held-out policies err where they know little, and still do so a
step later: their error persists, too. But it is in every episode, so its usual size, the median of
`persistent`, is taken as the model error. What exceeds it belongs to the episode. Part of the model
error does change in a step, about as much as in the next one: from mean r_t · r_(t+1) to mean
r_t · r_(t+2). That part is in `noise`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.diagnosis.equal_lengths import equal_lengths

ODD = 2.5
"""Robust standard deviations above the usual from which an episode or operator is an outlier."""
_LEAST_EPISODES = 10  # with fewer, no usual size can be estimated
_MOST_OUTLIERS = 1 / 3  # of the episodes; if more differ, they are another way to do the task
_NORMAL = 1.4826  # standard deviation of a normal distribution over its median deviation
_OF_MEDIAN = 1.2533  # standard error of a median over that of the mean, of normal numbers
_LEAST_OPERATORS = 3  # with fewer, differences between operators cannot be estimated


def by_episode(demos: Demonstrations, values: Array) -> list[Array]:
    """Split values of all pairs (N, …) into those of each episode."""
    return np.split(values, np.cumsum(demos.lengths)[:-1])


def known_by_episode(demos: Demonstrations, residual: Array) -> list[Array]:
    """Split residuals (N, A) into those of each episode, without pairs for which they are NaN."""
    is_known = ~np.isnan(residual).any(1)  # (N,)
    ends = np.cumsum(demos.lengths)
    return np.split(residual[is_known], np.cumsum(is_known)[ends - 1][:-1])


@dataclass(frozen=True, eq=False)
class Components:
    """Mean squares of E episodes; NaN for episodes of fewer than three pairs.

    What is the same for all episodes is computed once, since the score of each episode needs it.
    """

    noise: Array
    """(E,)"""
    persistent: Array
    """(E,): may be negative by sampling error."""
    sampling_variance: Array
    """(E,): the sampling variance of `persistent`, from the pairs of the episode."""
    two_steps: Array
    """(E,): mean r_t · r_(t+2)."""

    @staticmethod
    def of(residuals: Sequence[Array]) -> Components:
        """Return the components of the residuals of each episode, (T, A) each."""
        values = np.full((4, len(residuals)), np.nan)
        for episodes, r in equal_lengths(residuals):
            if r.shape[1] > 2:
                values[:, episodes] = _mean_squares(r)
        return Components(*values)

    @cached_property
    def model_error(self) -> float:
        """The mean square of the persistent part of the model error."""
        return max(_median(self.persistent), 0.0)

    @cached_property
    def quick_model_error(self) -> float:
        """The mean square of the part that changes in a step; at most the persistent part."""
        return float(np.clip(_median(self.persistent - self.two_steps), 0.0, self.model_error))

    @cached_property
    def spread(self) -> float:
        """The standard deviation of the model error's mean square between episodes."""
        finite = np.isfinite(self.persistent)
        if finite.sum() < 3:
            return 0.0
        sampling = float(np.median(self.sampling_variance[finite]))
        between = _deviation(self.persistent[finite]) ** 2 - sampling
        return float(np.sqrt(max(between, 0.0)))

    def standard_error(self, persistent: bool) -> float:
        """Return the standard error of the quick model error, or of all of it."""
        values = self.persistent - self.two_steps + (self.persistent if persistent else 0.0)
        values = values[np.isfinite(values)]
        return _OF_MEDIAN * _deviation(values) / np.sqrt(len(values)) if len(values) else 0.0

    def between(self, operators: Sequence[Sequence[int]]) -> float:
        """Return the standard deviation of the model error between operators.

        `operators` holds the episodes of each. It is the part by which the persistent error of
        operators differs more than differences between their episodes explain.
        """
        squares = [self.persistent[i][np.isfinite(self.persistent[i])] for i in operators]
        groups = [x for x in squares if len(x) > 1]
        if len(groups) < _LEAST_OPERATORS:
            return 0.0
        sampling = float(np.median([x.var(ddof=1) / len(x) for x in groups]))
        means = np.array([x.mean() for x in groups])
        return float(np.sqrt(max(_deviation(means) ** 2 - sampling, 0.0)))

    def excess(self, episodes: Sequence[int]) -> float:
        """Return by how much the persistent error of these episodes exceeds the model error.

        0 unless it is an outlier: the mean over n episodes varies with a standard error of
        deviation / √n, and operators should not be ranked by sampling error.
        """
        persistent = self.persistent[episodes][np.isfinite(self.persistent[episodes])]
        if not len(persistent):
            return np.nan
        excess = float(persistent.mean()) - self.model_error
        error = _deviation(self.persistent) / np.sqrt(len(persistent))
        return excess if excess > ODD * error else 0.0

    @cached_property
    def oddness(self) -> Array:
        """How far the worse component exceeds the usual, in robust standard deviations: (E,)."""
        size = np.sign(self.persistent) * np.sqrt(np.abs(self.persistent))
        squares = np.stack([robust_score(np.sqrt(self.noise)), robust_score(size)])  # (2, E)
        return np.asarray(squares.max(axis=0))

    @property
    def learnable(self) -> Array:
        """Which episodes are usual enough to learn from: (E,) bool.

        All if there are fewer than ten; otherwise at least two in three.
        """
        odd = np.nan_to_num(self.oddness, nan=0.0)
        if len(odd) < _LEAST_EPISODES:
            return np.ones(len(odd), bool)
        order = np.argsort(-odd, kind="stable")[: int(_MOST_OUTLIERS * len(odd))]
        learnable = np.ones(len(odd), bool)
        learnable[order[odd[order] > ODD]] = False
        return learnable

    def nearest(self, share: float) -> Array:
        """Return which episodes are the given share with the smallest mean square: (E,) bool.

        Episodes too short for a mean square count as usual.
        """
        square = self.noise + self.persistent
        count = int((1 - share) * len(square))
        nearest = np.ones(len(square), bool)
        nearest[np.argsort(-np.nan_to_num(square, nan=0.0), kind="stable")[:count]] = False
        return nearest


def _mean_squares(r: Array) -> tuple[Array, ...]:
    """Return the fields of `Components` for episodes of T ≥ 3 pairs: (E, T, A) → (E,) each."""
    product = (r[:, 1:] * r[:, :-1]).sum(2)  # (E, T − 1)
    noise = 0.5 * (np.diff(r, axis=1) ** 2).sum(2).mean(1)
    two_steps = (r[:, 2:] * r[:, :-2]).sum(2).mean(1)
    return noise, product.mean(1), product.var(1) / (r.shape[1] - 2), two_steps


def _median(values: Array) -> float:
    """Return the median of the finite values; 0 if there are none."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else 0.0


def _deviation(values: Array) -> float:
    """Return a standard deviation that is robust to a few outliers."""
    return _NORMAL * float(np.nanmedian(np.abs(values - np.nanmedian(values))))


def robust_score(values: Array) -> Array:
    """Return the distance above the median in robust standard deviations; 0 if nothing varies."""
    if not np.isfinite(values).any():
        return np.zeros(len(values))
    deviation = _deviation(values)
    median = np.nanmedian(values)
    return np.asarray((values - median) / deviation if deviation > 0 else 0 * values)
