"""Detect a delay between two streams of a recording, such as a camera and the joints.

For a source y (an action or an observation) and an observed quantity x let R²_k be the squared
correlation over all steps of y at step t − k, or of its change, with the movement x_(t+1) − x_t.
Streams that were recorded together agree best at k = −1, 0 or 1: a velocity is measured before or
after the movement, and an action moves something one step later. x is late by k steps if R²_k is
above `SURE` for a larger k and far above all R² of those three. An observation may be late after an
action or another observation; an action is never called late, since people react late.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.raw_episode import RawEpisode

MOST = 10
"""Steps, the longest delay that is looked for."""
WIDE = 64
"""Dimensions of an observation, above which nothing is looked for."""
SURE = 0.9
"""Smallest R² of two streams that belong together."""
_RATIO = 4  # times that the unexplained share must be larger without the delay
_NATURAL = 1  # steps between streams that were recorded together
_FEW = 50  # steps


@dataclass(frozen=True)
class Delay:
    """An observed quantity that follows another stream some steps late."""

    source: str
    """The name of the action or observation that comes first."""
    is_action: bool
    obs: str
    steps: int
    share: float
    """R² with the delay."""


class Delays:
    """Products of all streams with all movements at each lag, from episodes in sequence."""

    def __init__(self, model: Demonstrations) -> None:
        self._names = (*model.action_names, *model.obs_names)
        self._actions, self._width = model.action_size, len(model.obs_names)
        lags = 2 * MOST + 1
        shape = lags, 2 * len(self._names), self._width
        self._is_active = 0 < self._width <= WIDE
        if self._is_active:
            self._products = np.zeros(shape)
            self._sources, self._movements = np.zeros(shape[:2]), np.zeros((lags, shape[2]))
            self._counts = np.zeros((lags, shape[1]), int)

    def see(self, r: RawEpisode) -> None:
        """Add an episode; one with values that are not finite is left out."""
        if not self._is_active or len(r.action) < 3 * MOST:
            return
        levels = np.hstack([r.action, r.obs]).astype(np.float64)  # (T, D)
        if not np.isfinite(levels).all():
            return
        change = np.diff(levels, axis=0)  # (T - 1, D)
        sources = np.hstack([levels[:-1] - levels.mean(axis=0), change])  # (T - 1, 2 D)
        movement = change[:, self._actions :]  # (T - 1, S)
        rows = len(movement)
        for n, k in enumerate(range(-MOST, MOST + 1)):
            y = sources[max(0, -k) : rows - max(0, k)]
            x = movement[max(0, k) : rows - max(0, -k)]
            self._products[n] += y.T @ x
            self._sources[n] += (y**2).sum(axis=0)
            self._movements[n] += (x**2).sum(axis=0)
            self._counts[n] += (y != 0).sum(axis=0)

    def detect(self) -> tuple[Delay, ...]:
        """Return for each observed quantity that is late the stream that it follows best."""
        if not self._is_active:
            return ()
        share = self._shares()  # (lags, 2 D, S)
        natural = share[MOST - _NATURAL : MOST + _NATURAL + 1].max(axis=0)  # (2 D, S)
        late = share[MOST + _NATURAL + 1 :]
        early = share[: MOST - _NATURAL]
        best = late.max(axis=0)
        other = np.maximum(natural, early.max(axis=0))
        is_late = (best >= SURE) & (1 - other >= _RATIO * (1 - best)) & (other < SURE)
        delays: dict[int, Delay] = {}
        for source, i in zip(*np.nonzero(is_late), strict=True):
            d = int(source) % len(self._names)
            delay = Delay(
                source=self._names[d],
                is_action=d < self._actions,
                obs=self._names[self._actions + int(i)],
                steps=int(late[:, source, i].argmax()) + _NATURAL + 1,
                share=float(best[source, i]),
            )
            if d != self._actions + i and delay.share > getattr(delays.get(i), "share", 0.0):
                delays[i] = delay
        return tuple(delays.values())

    def _shares(self) -> Array:
        """Return R² of each lag, stream and movement; 0 where too little changes."""
        squares = self._sources[:, :, None] * self._movements[:, None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self._products**2 / squares
        enough = self._counts[:, :, None] >= _FEW
        return np.nan_to_num(np.where(enough, share, 0.0))
