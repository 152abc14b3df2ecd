"""Errors added to the actions that people recorded, and ways to undo them before training.

Errors are in the units of Δ, in which each action dimension spans [−1, 1]. People's actions in
Push-T have no declared bounds, so their 1–99 % range does: 0.2 is ± 41 pixels in x and 40 in y.
Errors are drawn once per recorded action.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from counterbc.acting.actor import Acting
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.scaling import scaled_actions, user_actions
from counterbc.trainer import train

Array = NDArray[Any]
OUTLIERS, OUTLIER_SIZE = 0.2, 0.5
CORRELATION = 0.9
_WINDOW = 9  # steps of the Savitzky–Golay filter, of order 2
_FOLDS, _SAMPLES, _RELABEL_STEPS = 5, 16, 5000


def uniform(size: float, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Return independent errors, uniform within ± size."""
    return rng.uniform(-size, size, shape)


def outliers(size: float, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Return errors of up to ± 0.5 in this share of the steps, and 0 in the others."""
    errors = rng.uniform(-OUTLIER_SIZE, OUTLIER_SIZE, shape)
    return np.where(rng.random(shape[:1])[:, None] < size, errors, 0.0)


def correlated(size: float, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Return an AR(1) process with correlation 0.9 from step to step and this deviation."""
    errors = rng.normal(size=shape) * size
    for t in range(1, len(errors)):
        errors[t] = CORRELATION * errors[t - 1] + np.sqrt(1 - CORRELATION**2) * errors[t]
    return errors


ERRORS = {
    "uniform 0.2": (uniform, 0.2),
    "uniform 0.1": (uniform, 0.1),
    "20 % outliers": (outliers, OUTLIERS),
    "correlated 0.1": (correlated, 0.1),
}


def with_errors(demos: Demonstrations, kind: str, seed: int) -> Demonstrations:
    """Return the demonstrations with errors of a kind added to their actions."""
    if kind not in ERRORS:
        return demos
    (draw, size), rng = ERRORS[kind], np.random.default_rng(seed)

    def changed(episode: Episode) -> Array:
        scaled = scaled_actions(demos, episode.action)
        return user_actions(demos, scaled + draw(size, scaled.shape, rng))

    return _with_actions(demos, [changed(e) for e in demos.episodes])


def smoothed(demos: Demonstrations) -> Demonstrations:
    """Return the demonstrations with actions filtered along each episode."""
    from scipy.signal import savgol_filter

    return _with_actions(
        demos,
        [
            savgol_filter(e.action, _WINDOW, 2, axis=0) if len(e) > _WINDOW else e.action
            for e in demos.episodes
        ],
    )


def relabelled(
    demos: Demonstrations, radius: float, seed: int, device: str | None, **settings: Any
) -> Demonstrations:
    """Return the demonstrations with actions that flows of other episodes sample inside C(s, a).

    Each episode is held out of one of five flows. At each of its states that flow samples actions;
    the meant action is the mean of those within the radius of the demonstrated one. If none is,
    it is the point of the ball next to the nearest of them.
    """
    fold = np.arange(len(demos.episodes)) % _FOLDS
    parts = [_episodes(demos, np.flatnonzero(fold != k)) for k in range(_FOLDS)]
    flows = train(
        parts, "bc", seeds=[seed + k for k in range(_FOLDS)], device=device, progress=False,
        policy="flow", lag=0.0, offsets="none", **(settings | {"steps": _RELABEL_STEPS}),
    )  # fmt: skip
    actions: list[Array] = [np.empty(0)] * len(demos.episodes)
    for k in range(_FOLDS):
        numbers = np.flatnonzero(fold == k)
        episodes = [demos.episodes[i] for i in numbers]
        samples = np.stack([_samples(flows[k], episodes, s) for s in range(_SAMPLES)])
        meant = _restricted(demos, np.concatenate([e.action for e in episodes]), samples, radius)
        ends = np.cumsum([len(e) for e in episodes])[:-1]
        for i, action in zip(numbers, np.split(meant, ends), strict=True):
            actions[i] = action
    return _with_actions(demos, actions)


def _samples(flow: Policies, episodes: list[Episode], seed: int) -> Array:
    """Return one sampled action at every step of the episodes: (n, A)."""
    obs = torch.tensor(np.concatenate([e.obs for e in episodes]))[None]  # (1, n, S)
    starts = np.repeat(np.cumsum([0, *(len(e) for e in episodes)])[:-1], [len(e) for e in episodes])
    scaled, history = flow.scales.obs(obs), flow.policy.history
    back = np.arange(history - 1, -1, -1)
    index = np.maximum(np.arange(len(starts))[:, None] - back, starts[:, None])  # (n, history)
    acting = Acting(flow, range(len(starts)), "sample", seed)
    return np.asarray(acting.predict(scaled[:, torch.tensor(index)], obs)[0].numpy())


def _restricted(demos: Demonstrations, action: Array, samples: Array, radius: float) -> Array:
    """Return the mean of the samples (M, n, A) within the radius of actions (n, A)."""
    shown = scaled_actions(demos, action)
    gap = np.stack([scaled_actions(demos, s) for s in samples]) - shown  # (M, n, A)
    distance = np.linalg.norm(gap, axis=-1, keepdims=True)  # (M, n, 1)
    inside = distance <= radius
    mean = (gap * inside).sum(0) / np.maximum(inside.sum(0), 1)
    nearest = np.take_along_axis(gap, distance.argmin(0)[None], 0)[0]
    length = np.linalg.norm(nearest, axis=-1, keepdims=True)
    edge = nearest * radius / np.maximum(length, radius)
    return user_actions(demos, shown + np.where(inside.any(0), mean, edge))


def _episodes(demos: Demonstrations, numbers: Array) -> Demonstrations:
    return replace(demos, episodes=tuple(demos.episodes[i] for i in numbers), masks={})


def _with_actions(demos: Demonstrations, actions: list[Array]) -> Demonstrations:
    pairs = zip(demos.episodes, actions, strict=True)
    return replace(
        demos,
        episodes=tuple(replace(e, action=np.asarray(a, e.action.dtype)) for e, a in pairs),
    )
