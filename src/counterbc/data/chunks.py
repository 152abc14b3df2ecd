"""Chunks: the next H actions of each pair, which a policy predicts at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import lagged_pairs, undo_lag
from counterbc.data.scaling import Scaling
from counterbc.errors import DataError

LEAST_SCALE = 1e-3
"""The least scale of a standardized number; actions that hardly vary have it. They span 2."""


def next_actions(demos: Demonstrations, lag: Sequence[float], horizon: int) -> Array:
    """Return the actions a_(t+k) … a_(t+k+H−1) of every pair, for a lag of k: (T, H, A).

    They never cross the end of an episode: after it, its last action is held.
    """
    action, inside = undo_lag(demos, lag)
    if horizon == 1:
        return action[:, None]
    if demos.selected is not None:
        raise DataError(
            f"horizon is {horizon}, but these data are single pairs sampled from episodes, whose "
            "neighbours may not be read; give whole episodes, or a horizon of 1"
        )
    starts, pairs = demos.starts, np.arange(len(action))
    counts = np.bincount(starts, inside, len(action)).astype(int)  # answered pairs by start
    last = np.maximum(starts + counts[starts] - 1, pairs)
    chunks: Array = action[np.minimum(pairs[:, None] + np.arange(horizon), last[:, None])]
    return chunks


def fit_targets(
    scales: Scaling,
    demos: Demonstrations,
    pairs: Array,
    lag: Sequence[float],
    horizon: int,
    standardize: bool,
) -> Scaling:
    """Return the scales of a dataset for policies that predict `horizon` actions at once.

    If asked for, each of the H · A numbers is standardized over the pairs that are learned from,
    those with an action among `pairs`.
    """
    width = horizon * demos.action_size
    mean, scale = torch.zeros(1, width), torch.ones(1, width)
    if standardize:
        learned = lagged_pairs(demos, pairs, lag)
        actions = torch.tensor(next_actions(demos, lag, horizon)[learned])
        plain = replace(scales, target_mean=mean, target_scale=scale)
        obs = torch.tensor(demos.obs[learned]) if scales.relative else torch.empty(0)
        targets = plain.targets(actions[None], obs[None])[0].double()
        mean = targets.mean(0, keepdim=True).float()
        scale = targets.std(0, correction=0, keepdim=True).float().clamp(min=LEAST_SCALE)
    return replace(scales, target_mean=mean, target_scale=scale)
