"""Held-out predictions for every pair, from policies that do not learn from outlier episodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterbc.data.action_scale import scaled_actions
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import NONE, answer_states, undo_lag
from counterbc.diagnosis.components import Components, known_by_episode
from counterbc.diagnosis.effort import comparable_residuals
from counterbc.selection.held_out import HeldOut, Training, held_out_predictions
from counterbc.settings import Settings

_AROUND = 2  # neighbours on either side


def robust_predictions(
    demos: Demonstrations,
    held_out: HeldOut,
    radius: tuple[float, ...],
    training: Training,
    lag: tuple[float, ...] = NONE,
) -> Array:
    """Return the mean action at every pair in the user's units: (repeats, N, A).

    With a lag of k the policies learn to answer s_t with a_(t+k). Each round leaves out the
    episodes that were outliers in the round before, until the same episodes remain. NaN where a
    policy diverged.
    """
    demos, has_answer = answer_states(demos, lag), undo_lag(demos, lag)[1]
    settings = training.settings
    settings = replace(settings, steps=min(held_out.steps, settings.step_count))
    training, subset = replace(training, settings=settings), demos
    for _ in range(held_out.rounds - 1):
        once = replace(held_out, repeats=1)
        prediction = held_out_predictions(subset, once, radius, training, complete=False)
        pairs = _usual_pairs(demos, has_answer, prediction[0], held_out.trim)
        before, subset = subset, replace(demos, selected=pairs)
        if np.array_equal(before.learned, pairs):
            break
    return held_out_predictions(subset, held_out, radius, training)


def predictions_work(demos: Demonstrations, held_out: HeldOut, settings: Settings) -> float:
    """Return about how many states the held-out policies learn from in all their steps."""
    batch = settings.batch_size(max(demos.pairs * (held_out.folds - 1) // held_out.folds, 1))
    policies = (held_out.rounds - 1 + held_out.repeats) * held_out.folds
    return float(policies * min(held_out.steps, settings.step_count) * batch)


def _usual_pairs(demos: Demonstrations, has_answer: Array, prediction: Array, trim: float) -> Array:
    """Return the selected pairs of episodes that are not outliers, as indices into all pairs.

    With `trim` they are those of the other episodes than this share, which has the largest errors.
    Episodes whose policy diverged, so that their prediction is NaN, count as usual.
    """
    actions = scaled_actions(demos, demos.action.astype(np.float64))
    residual = actions - scaled_actions(demos, prediction)
    residual[~has_answer] = np.nan
    residual = comparable_residuals(demos, residual, prediction)  # fast ones are learned from, too
    components = Components.of(known_by_episode(demos, residual))
    is_usual = components.nearest(1 - trim) if trim else components.learnable  # (E,)
    of_pair = np.repeat(is_usual, demos.lengths)
    return np.asarray(demos.learned[of_pair[demos.learned]])


def disagreement(demos: Demonstrations, means: Array) -> Array:
    """Return the variance among policies (R, N, A), averaged over five neighbouring pairs: (N,).

    Few policies cannot estimate it at one pair, and neighbouring pairs are predicted equally well.
    """
    actions = np.stack([scaled_actions(demos, m) for m in means])
    off = actions - np.nanmean(actions, axis=0)
    count = np.isfinite(off).all(2).sum(0)  # (N,)
    variance = np.nansum(off**2, axis=(0, 2)) / np.maximum(count - 1, 1)  # (N,)
    return _averaged(variance, demos.lengths)


def _averaged(values: Array, lengths: Array) -> Array:
    """Return the mean of each number and its neighbours in episodes of these lengths: (N,).

    The first and the last number of an episode stand for those beyond its ends.
    """
    ends = np.cumsum(lengths)
    places = np.arange(len(values)) + 2 * _AROUND * np.repeat(np.arange(len(lengths)), lengths)
    padded = np.repeat(values, 1 + _AROUND * _counts(ends - lengths, ends - 1, len(values)))
    box = np.full(2 * _AROUND + 1, 1 / (2 * _AROUND + 1))
    return np.asarray(np.convolve(padded, box, mode="valid")[places])


def _counts(first: Array, last: Array, size: int) -> Array:
    """Return how often each of `size` numbers begins or ends an episode: (size,)."""
    return np.asarray(np.bincount(first, minlength=size) + np.bincount(last, minlength=size))
