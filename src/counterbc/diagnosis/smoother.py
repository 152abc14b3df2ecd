"""Meant actions from time and from other episodes: a state-space smoother with two observations.

In each action dimension, along an episode, with the demonstrated action a_t and the prediction p_t
of policies that did not see the episode,

    x_t = what was meant            x − mean ~ AR(1)       what is meant changes gradually
    p_t = x_t + m_t                 m ~ AR(1) · √s_t       policies err alike at neighbouring steps
    a_t = x_t + e_t                 e white, variance σ²   demonstrators err independently

s_t = √(v_t / mean v) for the disagreement v_t of the policies, averaged over five neighbours: four
policies estimate it roughly, hence the root. The variance of m is at least the mean of v. All
processes are Markov, so the precision of x given a and p is tridiagonal, and the marginal
likelihood of (a, p) takes one banded factorization. It is maximized over the five parameters; the
truth is not needed. The smoothed action is the mean of x.

Where a policy misses a jump of x, that looks like an error of a few steps. So second differences
of a − p count as well: for white errors and accurate policies their variance is 6 σ², and their
median does not see what happens at few steps. A dimension is smoothed only if that median shows
errors at most steps, or if σ is too large to be anything else. If the median and the root mean
square agree, errors are white, and σ cannot exceed what the differences show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded
from scipy.optimize import minimize

from counterbc.data.arrays import Array

REACH = 4.0
"""How far a smoothed action may lie from the demonstrated one, in standard deviations of e."""
LEAST_ERROR = 0.05
"""Least σ at most steps, by the median of second differences, for a dimension to be smoothed."""
CLEAR_ERROR = 0.18
"""Least σ for a dimension to be smoothed where most steps show smaller errors."""
_WHITE = 0.7  # least ratio of σ by the median to σ by the root mean square, of white errors
_NORMAL = 1.4826  # standard deviation of a normal distribution over its median deviation
_TWO_VALUED = 0.01  # the share of the variance that a split in two leaves, for buttons and grippers
_AROUND = 2  # neighbours on either side
_HIGHEST = 0.995  # of the correlation of neighbouring steps
_BOUNDS = [(-14.0, 3.0), (-5.0, 7.0), (-18.0, 3.0), (-5.0, 7.0), (-20.0, 3.0)]
_STARTS = (0.2, 0.6)  # shares of the squared residual that are e at first

Banded = tuple[Array, float, Array]
"""A precision as (2, n) upper bands, the logarithm of its determinant, and the centre (n,)."""


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Smoothed actions of n pairs, where each action dimension spans [−1, 1]."""

    action: Array
    """(n, A)"""
    error: Array
    """(A,): σ, the demonstrators' standard deviation; 0 in dimensions that are left alone."""


def smooth_actions(
    action: Array, predicted: Array, disagreement: Array, lengths: Sequence[int]
) -> Smoothed:
    """Return what was meant, given actions, predictions and the variance between policies: (n, A).

    `lengths` are the pairs of each episode. Dimensions with two values are left, and so are those
    whose errors cannot be distinguished from jumps.
    """
    joined = _joined(lengths)
    out, error = action.copy(), np.zeros(action.shape[1])
    for d in range(action.shape[1]):
        if len(action) < 3 or two_valued(action[:, d]):
            continue
        v = _neighbour_mean(disagreement[:, d], joined)
        usual, overall = error_scales(action[:, d] - predicted[:, d], joined)
        most = overall if usual >= _WHITE * overall else np.inf
        x, sigma = _smooth(action[:, d], predicted[:, d], v, joined, most)
        if usual >= LEAST_ERROR or sigma >= CLEAR_ERROR:
            out[:, d], error[d] = x, sigma
    return Smoothed(out, error)


def error_scales(residual: Array, joined: Array) -> tuple[float, float]:
    """Return σ of white errors at most steps, and at all: by the median and the mean square of
    second differences. 0 if no episode has three pairs.

    `joined` says which neighbouring pairs belong to the same episode, (n − 1,).
    """
    bend = (residual[2:] - 2 * residual[1:-1] + residual[:-2])[joined[1:] & joined[:-1]] / np.sqrt(
        6
    )
    if not len(bend):
        return 0.0, 0.0
    return _NORMAL * float(np.median(np.abs(bend))), float(np.sqrt((bend**2).mean()))


def two_valued(values: Array) -> bool:
    """Return whether numbers lie near two values, as those of a gripper or a button do."""
    ordered = np.sort(values)
    total = float(((ordered - ordered.mean()) ** 2).sum())
    if total <= 1e-12 * len(values):
        return True
    cut = int(np.diff(ordered).argmax()) + 1
    left = sum(float(((part - part.mean()) ** 2).sum()) for part in np.split(ordered, [cut]))
    return left <= _TWO_VALUED * total


def _joined(lengths: Sequence[int]) -> Array:
    """Return which neighbouring pairs belong to the same episode: (n − 1,) bool."""
    ends = np.cumsum([n for n in lengths if n])
    joined = np.ones(max(int(ends[-1]) - 1, 0) if len(ends) else 0, bool)
    joined[ends[:-1] - 1] = False
    return joined


def _neighbour_mean(values: Array, joined: Array) -> Array:
    """Return the mean over five neighbours of the same episode: (n,)."""
    box = np.full(2 * _AROUND + 1, 1 / (2 * _AROUND + 1))
    parts = np.split(values, np.flatnonzero(~joined) + 1)
    padded = (np.pad(part, _AROUND, mode="edge") for part in parts)
    return np.concatenate([np.convolve(part, box, mode="valid") for part in padded])


def _smooth(
    action: Array, predicted: Array, v: Array, joined: Array, most: float = np.inf
) -> tuple[Array, float]:
    """Return the mean of x at the likeliest parameters, and σ, which is `most` at most."""
    square = max(float(((action - predicted) ** 2).mean()), 1e-8)
    spread = max(float(predicted.var()), 1e-4)
    floor = float(v.mean())
    scale = (v / floor + 0.1) ** 0.25 if floor > 1e-12 else np.ones(len(v))
    scale = scale / np.sqrt((scale**2).mean())

    def terms(parameters: Array) -> list[Banded]:
        x, rho_x, m, rho_m, e = parameters
        centre, size = np.full(len(action), predicted.mean()), float(np.exp(e))
        white = np.stack([np.zeros(len(action)), np.full(len(action), 1 / size)])
        return [
            (*_chain(float(np.exp(x)), _correlation(rho_x), joined, np.ones(len(v))), centre),
            (*_chain(float(np.exp(m)) + floor, _correlation(rho_m), joined, scale), predicted),
            (white, -len(action) * float(e), action),
        ]

    starts = (
        [np.log(spread), 2.0, np.log((1 - share) * square), 0.5, np.log(share * square)]
        for share in _STARTS
    )
    lowest, highest = _BOUNDS[-1]
    highest = min(highest, max(2 * float(np.log(max(most, 1e-9))), lowest))
    bounds = [*_BOUNDS[:-1], (lowest, highest)]
    fits = [
        minimize(
            lambda p: _solve(terms(p))[0] / len(action), start, method="L-BFGS-B", bounds=bounds,
            options={"maxiter": 60},
        )
        for start in starts
    ]  # fmt: skip
    best = min(fits, key=lambda fit: float(fit.fun)).x
    return _solve(terms(best))[1], float(np.exp(best[4] / 2))


def _correlation(parameter: float) -> float:
    return float(_HIGHEST / (1 + np.exp(-parameter)))


def _chain(variance: float, rho: float, joined: Array, scale: Array) -> tuple[Array, float]:
    """Return the precision (2, n) of an AR(1) process times `scale`, and its log-determinant."""
    bands = np.zeros((2, len(joined) + 1))
    first = np.concatenate([[True], ~joined])
    link = joined / (variance * (1 - rho**2))  # (n − 1,)
    bands[1] = first / variance
    bands[1, 1:] += link
    bands[1, :-1] += rho**2 * link
    bands[0, 1:] = -rho * link
    log_det = -float(len(first) * np.log(variance) + joined.sum() * np.log(1 - rho**2))
    bands[1] /= scale**2
    bands[0, 1:] /= scale[1:] * scale[:-1]
    return bands, log_det - 2 * float(np.log(scale).sum())


def _solve(terms: Sequence[Banded]) -> tuple[float, Array]:
    """Return the negative log-likelihood up to a constant, and the mean of x: (n,)."""
    weighted = [_times(bands, centre) for bands, _, centre in terms]
    target = np.sum(weighted, axis=0)
    factor = cholesky_banded(np.sum([bands for bands, _, _ in terms], axis=0))
    x = np.asarray(cho_solve_banded((factor, False), target))
    square = sum(float(t[2] @ w) for t, w in zip(terms, weighted, strict=True)) - float(target @ x)
    log_det = sum(t[1] for t in terms) - 2 * float(np.log(factor[1]).sum())
    return 0.5 * (square - log_det), x


def _times(bands: Array, x: Array) -> Array:
    """Return a symmetric tridiagonal matrix, as upper bands, times a vector."""
    y = bands[1] * x
    y[:-1] += bands[0, 1:] * x[1:]
    y[1:] += bands[0, 1:] * x[:-1]
    return np.asarray(y)
