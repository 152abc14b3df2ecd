"""Measure the shares of a dataset: from errors of held-out policies, or without any training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from counterbc.data.action_scale import scaled_actions
from counterbc.data.angles import cos_and_sin
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import NONE, answered_pairs, undo_lag
from counterbc.errors import DataError
from counterbc.selection.clusters import episode_clusters
from counterbc.selection.folds import Folds, some_episodes, split_operators
from counterbc.selection.readings import predict_held_out, readings, with_image_components
from counterbc.selection.response import response_share
from counterbc.selection.shares import Explained, Past, Share

HISTORY = 3
"""Observations that policies with a history read, if their number is left to the data."""
QUICK_PAIRS = 600
"""Pairs of some whole episodes that the regressions learn from, about."""
_FOLDS, _STRETCH, _SEED = 5, 20, 0  # of the regressions


def explain_errors(
    demos: Demonstrations,
    residual: Array,
    history: int = 1,
    quick: Explained | None = None,
    lag: Sequence[float] = NONE,
) -> Explained:
    """Return what held-out policies explain, from their errors at all pairs: (N, A).

    Errors are in units in which actions span [−1, 1], NaN for pairs that do not count. With a lag
    of k, row t is the error of a_(t+k), predicted from s_t. `history` is the number of observations
    that the policies read. `quick` is what needs no training, where it is known already.
    """
    whole, rows = replace(demos, selected=None), np.isfinite(residual).all(1)
    action = scaled_actions(demos, undo_lag(demos, lag)[0].astype(np.float64))  # (N, A)
    cluster = episode_clusters(whole, _STRETCH)
    share, each = _shares(residual[rows] ** 2, action[rows], cluster[rows])
    shares = with_policies(quick or explain_quickly(demos, lag), share, each, history)
    return replace(shares, response=response_share(whole, action, residual, cluster))


def with_policies(
    quick: Explained, share: Share, each: tuple[Share, ...], history: int = 1
) -> Explained:
    """Return what regressions explain, and what held-out policies explain.

    These read `history` observations; with one, their shares of all actions and of each dimension
    are those from the present observation.
    """
    if history > 1:
        return replace(quick, history=history, policies=share)
    return replace(quick, present=share, per_dimension=each)


def choose_history(
    demos: Demonstrations, history: int | Literal["auto"], lag: Sequence[float] = NONE
) -> int:
    """Return how many observations the held-out policies of a diagnosis read."""
    if history != "auto":
        return history
    quick = explain_quickly(demos, lag)
    return HISTORY if quick.history_tells and not quick.present.is_enough else 1


def explain_sample(sample: Demonstrations, squares: Array) -> tuple[Explained, float]:
    """Return what policies explain of the selected pairs, and the error of the mean action.

    `squares` are the squared errors of the policies, scaled to [−1, 1]: (n, A). Those that are NaN
    do not count.
    """
    rows = np.isfinite(squares).all(1)
    action = scaled_actions(sample, sample.action.astype(np.float64))[sample.learned][rows]
    present, each = _shares(squares[rows], action, episode_clusters(sample, _STRETCH)[rows])
    error = float(((action - action.mean(0)) ** 2).sum(1).mean())
    return Explained(present, each, sample.action_names), error


def _shares(squares: Array, action: Array, cluster: Array) -> tuple[Share, tuple[Share, ...]]:
    """Return the share that predictions of actions (n, A) explain, of all and by dimension."""
    spread = (action - action.mean(0)) ** 2
    each = tuple(Share.of(x, y, cluster) for x, y in zip(squares.T, spread.T, strict=True))
    return Share.of(squares.sum(1), spread.sum(1), cluster), each


def explain_quickly(demos: Demonstrations, lag: Sequence[float] = NONE) -> Explained:
    """Return what regressions on some episodes explain, without any training.

    With a lag of k, they predict a_(t+k) from s_t, and the previous action is a_(t−1): the last one
    that s_t may show.
    """
    sample, recorded_demos = (
        some_episodes(d, QUICK_PAIRS, _SEED, _FOLDS) for d in answered_pairs(demos, lag)
    )
    steps = _Steps(sample, recorded_demos.action, split_operators(sample, _FOLDS, _SEED))
    error = steps.action - steps.predict(steps.action, [steps.obs])
    present, each = _shares(error**2, steps.action, steps.cluster)
    return Explained(present, each, demos.action_names, steps.past(error))


def explain_if_possible(demos: Demonstrations, lag: Sequence[float] = NONE) -> Explained | None:
    """Return the same, or None for data that are too few for folds."""
    try:
        return explain_quickly(demos, lag)
    except DataError:
        return None


class _Steps:
    """The steps of a dataset, and regressions of their actions on what was before them.

    `recorded_action` (n, A) was shown at each step; with a lag it is not the one to predict.
    """

    def __init__(self, demos: Demonstrations, recorded_action: Array, folds: Folds) -> None:
        self.folds, self.starts = folds, demos.starts
        self.action, self.recorded_action = (
            scaled_actions(demos, a.astype(np.float64)) for a in (demos.action, recorded_action)
        )  # (n, A) each
        obs = with_image_components(cos_and_sin(demos)).obs
        self.obs = (obs if obs.ndim == 2 else readings(obs)[0]).astype(np.float64)  # (n, S)
        self.cluster = episode_clusters(demos, _STRETCH)

    def back(self, values: Array, steps: int) -> Array:
        """Return the values of earlier steps; those of the first step before an episode."""
        return np.asarray(values[np.maximum(np.arange(len(values)) - steps, self.starts)])

    def predict(self, target: Array, inputs: Sequence[Array]) -> Array:
        """Return the target (n, A) as the other folds predict it from the inputs, (n, ·) each, by
        the kernel with the least error; zeros if none is better than those."""
        best = np.zeros_like(target)
        for x in readings(np.concatenate(inputs, axis=1)):
            for predicted in predict_held_out(x, target, self.folds):
                if ((target - predicted) ** 2).sum() < ((target - best) ** 2).sum():
                    best = predicted
        return best

    def past(self, error: Array) -> Past | None:
        """Return what past actions and observations explain; None for episodes of one step.

        `error` is that of actions that are predicted from the present observation: (n, A).
        """
        rows = np.arange(len(self.action)) > self.starts
        if not rows.any():
            return None
        previous, before = (self.back(self.recorded_action, k) for k in (1, 2))
        actions = [previous, before]
        step = self.action - previous
        left = step - self.predict(step, actions)  # by the last two actions
        moves = [self.obs - self.back(self.obs, 1), self.back(self.obs, 1) - self.back(self.obs, 2)]
        errors_beyond = [
            left - self.predict(left, [self.obs, *moves]),
            left - self.predict(left, [self.obs, *actions]),
            left - self.predict(left, [self.obs, *moves, *actions]),
        ]
        least = min(errors_beyond, key=lambda error: float((error[rows] ** 2).sum()))
        shown = previous - self.predict(previous - previous.mean(0), [self.obs]) - previous.mean(0)

        def share(errors: Array, of: Array) -> Share:
            squares, spread = ((x[rows] ** 2).sum(1) for x in (errors, of))
            return Share.of(squares, spread, self.cluster[rows])

        deviation = self.action - self.action.mean(0)
        return Past(
            previous=share(step, deviation),
            beyond=share(least, left),
            visible=share(shown, previous - previous.mean(0)),
            last_two=share(left, deviation),
            present=share(error, deviation),
        )
