"""Detect observed angles that wrap: that jump by a full turn where nothing turned.

A dimension is a wrapped angle if

- all its values lie within [0, 2π] or all within [−π, π],
- it jumps by more than 0.9 turns between consecutive steps at least once,
- no more of its steps lie between 0.1 and 0.9 turns than there are such jumps, and
- more of its steps are below 0.1 turns, and not 0, than there are jumps.

The last two tell an angle from noise and from a switch between two values.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.dimensions import dims_of, find_dims
from counterbc.data.episode_block import blocks
from counterbc.data.raw_episode import raw_episodes
from counterbc.errors import OptionError, unknown

TURN = 2 * np.pi
DEGREES = 360.0
_SMALL, _JUMP = 0.1, 0.9  # turns
_ROUNDING = 1e-3


class Angles:
    """The range and the steps of each dimension, from episodes in sequence."""

    def __init__(self, width: int, turn: float = TURN) -> None:
        self._turn = turn
        self._low, self._high = np.full(width, np.inf), np.full(width, -np.inf)
        self._small, self._between, self._jumps = (np.zeros(width, int) for _ in range(3))

    def add(self, obs: Array, follows: Array | None = None) -> None:
        """Add the values of an episode: (T, S). Values that are not finite are skipped.

        Of several episodes, `follows` says which rows have a successor in the next row: (T - 1,).
        """
        x = np.where(np.isfinite(obs), obs, np.nan).astype(np.float64)
        self._low = np.fmin(self._low, np.fmin.reduce(x, axis=0))
        self._high = np.fmax(self._high, np.fmax.reduce(x, axis=0))
        step = np.abs(np.diff(x, axis=0)) / self._turn  # (T - 1, S)
        step = step if follows is None else step[follows]
        self._small += ((step > 0) & (step < _SMALL)).sum(axis=0)
        self._between += ((step >= _SMALL) & (step <= _JUMP)).sum(axis=0)
        self._jumps += (step > _JUMP).sum(axis=0)

    def detect(self) -> tuple[int, ...]:
        """Return the dimensions that are wrapped angles."""
        turn, half = self._turn, self._turn / 2
        positive = (self._low > -_ROUNDING) & (self._high < turn + _ROUNDING)
        centred = (self._low > -half - _ROUNDING) & (self._high < half + _ROUNDING)
        steps = (self._jumps > 0) & (self._between <= self._jumps) & (self._small > self._jumps)
        return tuple(np.flatnonzero((positive | centred) & steps).tolist())


def angle_dims(demos: Demonstrations, angles: str, detect: bool) -> tuple[int, ...]:
    """Return the observation dimensions that a policy reads as cosine and sine.

    `angles` names them, separated by commas, or is none; auto stands for those that the data
    declare and, if asked for, those that are detected.
    """
    if angles in ("auto", "none"):
        detected_dims = wrapped_angles(demos) if detect and angles == "auto" else ()
        declared_dims = dims_of(demos, demos.angles) if angles == "auto" else ()
        return tuple(sorted({*declared_dims, *detected_dims}))
    if not demos.obs_names:
        raise OptionError(f"angles is {angles!r}, but images have no angles; leave angles out")
    names = [name.strip() for name in angles.split(",")]
    for name in names:
        if find_dims(demos, name) is None:
            raise unknown("angle", name, demos.obs_names)
    return dims_of(demos, names)


def cos_and_sin(demos: Demonstrations) -> Demonstrations:
    """Return a dataset with two observations in place of each declared angle: cosine and sine."""
    dims = list(dims_of(demos, demos.angles))
    if not dims:
        return demos
    episodes = tuple(
        replace(e, obs=np.concatenate([_replaced(e.obs, dims), np.sin(e.obs[:, dims])], axis=1))
        for e in demos.episodes
    )
    return replace(demos, episodes=episodes, angles=(), obs_names=(), obs_keys=(), relative=None)


def _replaced(obs: Array, dims: list[int]) -> Array:
    """Return observations (T, S) with cosines in place of angles."""
    cosines = obs.copy()
    cosines[:, dims] = np.cos(obs[:, dims])
    return cosines


def wrapped_angles(demos: Demonstrations) -> tuple[int, ...]:
    """Return the observation dimensions of a dataset that are angles which wrap at a full turn."""
    angles = Angles(len(demos.obs_names))
    if demos.obs_names:
        for block in blocks(raw_episodes(demos)):
            angles.add(block.obs, block.follows)
    return angles.detect()
