"""Demonstrations of a linear law with known errors."""

from __future__ import annotations

import numpy as np

from counterbc.data.demonstrations import Demonstrations, Episode


def noisy_demos(*sigma: float, goals: float = 0.0, episodes: int = 10) -> Demonstrations:
    """Return episodes of 12 pairs.

    Each action is half a state, ± goals in the last dimension, ± uniform errors.
    """
    rng, size, episode_list = np.random.default_rng(0), len(sigma), []
    for _ in range(episodes):
        obs = rng.uniform(-1, 1, (12, 3))
        action = 0.5 * obs[:, :size] + np.array(sigma) * rng.uniform(-1, 1, (12, size))
        action[:, -1] += goals * rng.choice([-1, 1], 12)
        episode_list.append(Episode(obs, action))
    return Demonstrations(tuple(episode_list), np.full(size, -1.0), np.ones(size))
