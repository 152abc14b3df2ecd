"""Errors added to the actions that people recorded, and a filter to undo them before training.

Errors are in units of half of Push-T's table: 0.2 is ± 51 pixels. They are drawn once per recorded
action.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.data.demonstrations import Demonstrations, Episode

Array = NDArray[Any]
HALF_TABLE = 256  # pixels
OUTLIERS, OUTLIER_SIZE = 0.2, 0.5
CORRELATION = 0.9
_WINDOW = 9  # steps of the Savitzky–Golay filter, of order 2


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
    "20 % outliers": (outliers, OUTLIERS),
    "correlated 0.1": (correlated, 0.1),
}


def with_errors(demos: Demonstrations, kind: str, seed: int) -> Demonstrations:
    """Return the demonstrations with errors of a kind added to their actions."""
    if kind not in ERRORS:
        return demos
    (draw, size), rng = ERRORS[kind], np.random.default_rng(seed)

    def changed(episode: Episode) -> Array:
        errors = draw(size, episode.action.shape, rng)
        return np.asarray(episode.action + HALF_TABLE * errors)

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


def _with_actions(demos: Demonstrations, actions: list[Array]) -> Demonstrations:
    pairs = zip(demos.episodes, actions, strict=True)
    return replace(
        demos,
        episodes=tuple(replace(e, action=np.asarray(a, e.action.dtype)) for e, a in pairs),
    )
