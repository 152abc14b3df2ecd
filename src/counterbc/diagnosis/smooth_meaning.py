"""Meant actions that also use the neighbouring steps of their episode."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterbc.data.action_scale import scaled_actions, user_actions
from counterbc.data.arrays import Array, read_only
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import undo_lag
from counterbc.data.scaling import scaled_feasible_set
from counterbc.diagnosis.clamp_to_support import within
from counterbc.diagnosis.components import by_episode
from counterbc.diagnosis.smoother import REACH, smooth_actions


def smooth_fields(
    plain: Demonstrations,
    lag: tuple[float, ...],
    predictions: Array,
    *,
    shown: Array,
    shape: str,
    radius: tuple[float, ...] | None,
) -> dict[str, Any]:
    """Return the fields of `Meaning` that change where meant actions also use time.

    `plain` are demonstrations without the offsets of operators. A radius limits how far an action
    is moved. The one that is chosen for training says little about the size of errors, so without a
    given one, None, the estimated errors do.
    """
    answer, has_answer = undo_lag(plain, lag)
    rows = np.flatnonzero(has_answer)
    action = scaled_actions(plain, answer.astype(np.float64))[rows]
    policies = np.stack([scaled_actions(plain, p) for p in predictions])[:, rows]
    count = np.maximum(np.isfinite(policies).sum(0) - 1, 1)
    variance = np.nansum((policies - np.nanmean(policies, 0)) ** 2, axis=0) / count
    lengths = [int(part.sum()) for part in by_episode(plain, has_answer)]
    smoothed = smooth_actions(action, np.nanmean(policies, 0), variance, lengths)
    reach = REACH * smoothed.error if radius is None else np.array(radius)
    feasible = scaled_feasible_set(plain)
    clamped = within(action, smoothed.action, reach, shape, feasible)
    meant, limited = shown.copy(), np.zeros(len(shown), np.bool_)
    meant[rows] = user_actions(plain, clamped)
    limited[rows] = ~np.isclose(clamped, smoothed.action, atol=1e-6).all(1)
    return {
        "meant": read_only(meant, np.float64, "meant"),
        "limited": read_only(limited, np.bool_, "limited"),
        "reach": tuple(float(r) for r in reach),
    }
