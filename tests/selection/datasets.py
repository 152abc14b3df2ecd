"""Demonstrations of a linear law with known errors, and how policies learn from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.methods import find_method
from counterbc.selection.held_out import Training
from counterbc.settings import settings_for
from counterbc.training.progress import Quiet


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


def late_demos(*late: int, sigma: float = 0.1, episodes: int = 10) -> Demonstrations:
    """Return episodes of 30 pairs of an unpredictable signal that is followed late.

    Each action is half the state of `late` steps ago, ± uniform errors. With several numbers,
    operators p0, p1, … take turns, each with a lateness of their own.
    """
    rng, episode_list = np.random.default_rng(1), []
    for i in range(episodes):
        obs = rng.uniform(-1, 1, (30, 1))
        k = late[i % len(late)]
        delayed = np.concatenate([np.zeros((k, 1)), obs[: 30 - k]])
        action = 0.5 * delayed + sigma * rng.uniform(-1, 1, (30, 1))
        name = f"p{i % len(late)}" if len(late) > 1 else None
        episode_list.append(Episode(obs, action, operator=name))
    return Demonstrations(tuple(episode_list), np.full(1, -1.0), np.ones(1))


def fast_demos(late: int, rate: float = 200.0, smooth: int = 1) -> Demonstrations:
    """Return five episodes of 0.42 s at a high rate of a continuous signal that is followed late.

    The signal forgets its past in 0.05 s; filtered more than once it is smooth.
    """
    rng, episode_list, length = np.random.default_rng(1), [], round(0.42 * rate)
    keep = np.exp(-1 / (0.05 * rate))
    for _ in range(5):
        signal = rng.normal(size=length + 200)
        for _ in range(smooth):
            for t in range(1, len(signal)):
                signal[t] = keep * signal[t - 1] + np.sqrt(1 - keep**2) * signal[t]
        state = np.tanh(signal / signal.std())[:, None]
        delayed = state[200 - late : len(state) - late]
        error = 0.1 * rng.uniform(-1, 1, delayed.shape)
        episode_list.append(Episode(state[200:], 0.5 * delayed + error))
    return Demonstrations(tuple(episode_list), np.full(1, -1.0), np.ones(1), rate=rate)


def joined(demos: Demonstrations) -> Episode:
    """Return all episodes as one."""
    return Episode(demos.obs, demos.action)


def training(method: str = "counter-bc", **changes: Any) -> Training:
    """Return how held-out policies are trained: small and on the CPU."""
    name, definition = find_method(method)
    settings = settings_for("default", **({"hidden": (16, 16)} | changes))
    return Training(
        name=name, method=settings.apply(definition), settings=settings,
        device=torch.device("cpu"), progress=Quiet(),
    )  # fmt: skip


def crowd_demos(
    *offsets: float, sigma: float = 0.2, late: int = 0, episodes: int = 5, seed: int = 0
) -> Demonstrations:
    """Return episodes of 12 pairs of operators p0, p1, … who take turns, each with an offset.

    Each action is half the state of `late` steps ago plus the offset, ± uniform errors.
    """
    rng, episode_list = np.random.default_rng(seed), []
    for i in range(episodes * len(offsets)):
        obs, o = rng.uniform(-1, 1, (12, 2)), i % len(offsets)
        error = sigma * rng.uniform(-1, 1, (12, 1))
        action = 0.5 * np.roll(obs, late, axis=0)[:, :1] + offsets[o] + error
        episode_list.append(Episode(obs, action, operator=f"p{o}"))
    names = ("steer",)
    return Demonstrations(
        tuple(episode_list), np.full(1, -2.0), np.full(1, 2.0), action_names=names
    )
