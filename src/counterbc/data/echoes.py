"""Detect observations that show the previous action, though not to the digit: scaled or with noise.

For action j and observation i let R²_k be the squared correlation over all steps of the action at
step t with the observation at t + k. The observation echoes the action if R²_1 is above `SURE` and
the unexplained share 1 − R²_k is far larger for k = −1, 0 and 2. The position of a robot that
reaches its target within a step does the same. So where the action is a target of the observation
(`targets`), it counts as an echo only if its first value is filled in: all episodes start at the
same value and jump to the next, or repeat their first value, as the first row has no action before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.raw_episode import RawEpisode

SURE = 0.9
"""Smallest R² of an echo."""
_OTHERS = (-1, 0, 2)  # steps at which an echo agrees far less
_RATIO = 4  # times that the unexplained share must be larger there
_FEW = 50  # steps, below which nothing is detected
_SAME = 0.25  # largest spread of first values that are filled in, in standard deviations
_JUMP = 2.0  # smallest jump after these, in usual movements


@dataclass(frozen=True)
class Echo:
    """An observation dimension that shows the previous value of an action dimension."""

    action_dim: int
    obs_dim: int
    share: float
    """R² of the observation with the previous action."""
    is_filled: bool
    """Whether the first value of each episode is filled in, since there was no action before."""


class Starts:
    """First values of observations, which tell whether they are filled in."""

    def __init__(self, width: int) -> None:
        self._first: list[Array] = []  # (S,) of each episode
        self._repeats = np.ones(width, bool)  # the first value is the second
        self._jumps, self._moves, self._rows = np.zeros(width), np.zeros(width), 0

    def see(self, obs: Array) -> None:
        """Add the observations of an episode: (T, S)."""
        change = np.diff(obs.astype(np.float64), axis=0)
        self._first.append(obs[0].astype(np.float64))
        self._repeats &= change[0] == 0
        self._jumps += change[0] ** 2
        self._moves += (change[1:] ** 2).sum(axis=0)
        self._rows += len(change) - 1

    def filled_dims(self, spread: Array) -> Array:
        """Return which dimensions are filled in at the start, given their spread: (S,)."""
        if len(self._first) < 2 or not self._rows:
            return np.zeros(len(spread), bool)
        first = np.array(self._first)
        jump, move = self._jumps / len(first), self._moves / self._rows
        is_same = first.std(axis=0) <= _SAME * spread
        return np.asarray((is_same & (jump >= _JUMP**2 * move)) | (self._repeats & (move > 0)))


class Echoes:
    """Products of actions with the observations of near steps, from episodes in sequence."""

    def __init__(self, model: Demonstrations) -> None:
        self._width, self._size = len(model.obs_names), model.action_size
        self.starts = Starts(self._width)
        self._origin: tuple[Array, Array] | None = None
        self._sums = {k: _Sums() for k in (1, *_OTHERS)}

    def see(self, r: RawEpisode) -> None:
        """Add an episode of vector observations; one with values not finite is left out."""
        if not self._width or len(r.action) < 4:
            return
        obs, action = r.obs.astype(np.float64), r.action.astype(np.float64)
        if not (np.isfinite(obs).all() and np.isfinite(action).all()):
            return
        self.starts.see(obs)
        if self._origin is None:
            self._origin = obs.mean(0), action.mean(0)
        obs, action, rows = obs - self._origin[0], action - self._origin[1], len(action)
        for k, sums in self._sums.items():
            past = action[max(0, -k) : rows - max(0, k)]
            sums.add(past[1:], obs[max(0, k) : rows - max(0, -k)][1:])

    def detect(self) -> tuple[Echo, ...]:
        """Return the observation that echoes each action dimension best, if any does."""
        if self._sums[1].rows < _FEW:
            return ()
        share = self._sums[1].shares()  # (A, S)
        other = np.max([self._sums[k].shares() for k in _OTHERS], axis=0)
        is_echo = (share >= SURE) & (1 - other >= _RATIO * (1 - share))
        is_filled = self.starts.filled_dims(self._sums[1].spread())
        best = np.where(is_echo, share, -1.0).argmax(axis=1).tolist()
        return tuple(
            Echo(j, i, float(share[j, i]), bool(is_filled[i]))
            for j, i in enumerate(best)
            if is_echo[j, i]
        )


class _Sums:
    """Sums of products of two streams."""

    def __init__(self) -> None:
        self.rows = 0
        self._totals: dict[str, Array] = {}

    def add(self, a: Array, s: Array) -> None:
        self.rows += len(a)
        for key, total in {
            "a": a.sum(0), "s": s.sum(0), "aa": (a * a).sum(0), "ss": (s * s).sum(0), "as": a.T @ s,
        }.items():  # fmt: skip
            self._totals[key] = self._totals.get(key, 0) + total

    def shares(self) -> Array:
        """Return R² of each action with each observation: (A, S); 0 where one never changes."""
        mean = {key: total / self.rows for key, total in self._totals.items()}
        covariance = mean["as"] - mean["a"][:, None] * mean["s"]
        squares = (mean["aa"] - mean["a"] ** 2)[:, None] * (mean["ss"] - mean["s"] ** 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(np.where(squares > 1e-20, covariance**2 / squares, 0.0))

    def spread(self) -> Array:
        """Return the standard deviation of each observation: (S,)."""
        mean = self._totals["s"] / self.rows
        return np.asarray(np.sqrt(np.maximum(self._totals["ss"] / self.rows - mean**2, 0.0)))
