"""The loss of one state over a plane of actions: figure 2 of the paper, for any moment."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from counterbc.data import draws
from counterbc.data.arrays import Array
from counterbc.data.feasible import Everywhere
from counterbc.losses import cross_entropy
from counterbc.policies import GaussianMLP
from counterbc.supports import Ball

COUNT = 200
"""Counterfactuals per action."""
SIDE = 33
"""Actions along each dimension of the plane."""


def landscape(
    shown_action: Array, mean: Array, std: Array, radius: float, dims: tuple[int, ...]
) -> dict[str, Any]:
    """Return eq. M4 for demonstrated actions on a grid, where actions span [−1, 1].

    The policy is a Gaussian with this mean and standard deviation, (A,) each. Actions vary along
    `dims`, one or two of them; elsewhere they are the demonstrated one.
    """
    line = np.linspace(-1.0, 1.0, SIDE)
    grid = np.meshgrid(*[line] * len(dims), indexing="xy")  # values of dims[0] along columns
    actions = np.tile(np.asarray(shown_action, np.float64), (grid[0].size, 1))
    for dim, values in zip(dims, grid, strict=True):
        actions[:, dim] = values.ravel()
    losses = _losses(actions, mean, std, radius).reshape(grid[0].shape)
    return {
        "dims": list(dims), "line": line.tolist(), "loss": losses.tolist(),
        "shown": np.asarray(shown_action)[list(dims)].tolist(),
        "mean": mean[list(dims)].tolist(), "std": std[list(dims)].tolist(), "radius": radius,
        "here": float(_losses(np.asarray(shown_action, np.float64)[None], mean, std, radius)[0]),
    }  # fmt: skip


def _losses(actions: Array, mean: Array, std: Array, radius: float) -> Array:
    """Return the loss of each action as the demonstrated one: (B, A) → (B,)."""
    support, size = Ball(COUNT), actions.shape[1]
    numbers = support.draws(size, Everywhere())
    u = draws.uniform(torch.tensor(0), "figure 2", torch.arange(COUNT), numbers)
    head = torch.from_numpy(mean)[None], torch.from_numpy(np.log(std))[None]
    delta = torch.full(actions.shape, radius, dtype=torch.float64)
    placed = support.place(
        torch.from_numpy(actions), delta, u.double().expand(len(actions), -1, -1), Everywhere()
    )
    return np.asarray(cross_entropy(GaussianMLP().log_prob(head, placed)))
