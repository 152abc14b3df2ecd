"""Meant actions that also use the neighbouring steps of their episode."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from counterbc.data.action_scale import scaled_actions, user_actions
from counterbc.data.arrays import read_only
from counterbc.data.lags import undo_lag
from counterbc.data.offsets import remove_offsets
from counterbc.data.scaling import scaled_feasible_set
from counterbc.diagnosis.clamp_to_support import within
from counterbc.diagnosis.components import by_episode
from counterbc.diagnosis.smoother import REACH, smooth_actions

if TYPE_CHECKING:
    from counterbc.diagnosis.meaning import Meaning


def smooth_meaning(meaning: Meaning) -> Meaning:
    """Return the same with meant actions that also use time; a radius that was given limits them.

    The radius that is chosen for training says little about the size of errors, so without a given
    one the estimated errors limit how far an action is moved.
    """
    plain = remove_offsets(meaning.demos, meaning.offsets)
    answer, has_answer = undo_lag(plain, meaning.lag)
    rows = np.flatnonzero(has_answer)
    action = scaled_actions(plain, answer.astype(np.float64))[rows]
    policies = np.stack([scaled_actions(plain, p) for p in meaning.predictions])[:, rows]
    count = np.maximum(np.isfinite(policies).sum(0) - 1, 1)
    variance = np.nansum((policies - np.nanmean(policies, 0)) ** 2, axis=0) / count
    lengths = [int(part.sum()) for part in by_episode(plain, has_answer)]
    smoothed = smooth_actions(action, np.nanmean(policies, 0), variance, lengths)
    reach = REACH * smoothed.error if meaning.is_radius_chosen else np.array(meaning.radius)
    feasible = scaled_feasible_set(plain)
    clamped = within(action, smoothed.action, reach, meaning.shape, feasible)
    meant, limited = meaning.shown.copy(), np.zeros(len(meaning.shown), np.bool_)
    meant[rows] = user_actions(plain, clamped)
    limited[rows] = ~np.isclose(clamped, smoothed.action, atol=1e-6).all(1)
    return replace(
        meaning,
        meant=read_only(meant, np.float64, "meant"),
        limited=read_only(limited, np.bool_, "limited"),
        reach=tuple(float(r) for r in reach),
    )
