"""Detect actions that an observation repeats: at the same step, one step later, or several.

a_t = s_t, a_t = s_(t+1) and a_t = s_(t+k) are detected by counting equal numbers where the action
changes. One step later has two readings. Either the action was computed from the next observation,
or the observation is the previous action. It is taken for the previous action if its name says so,
or if it is 0 at the first step of every episode, before there was any action.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.raw_episode import RawEpisode

MOST = 10
"""Steps, the longest delay that is looked for."""
_ROWS = 200  # of the first episode, by which most pairs of dimensions are ruled out
_SHARE = 0.95  # of the steps at which the action changes
_FEW = 20  # such steps, below which nothing is detected
_EQUAL = 1e-5  # relative difference of equal numbers
_PREVIOUS = re.compile(r"action|command|cmd|previous|prev_|last_", re.IGNORECASE)


@dataclass(frozen=True)
class Copy:
    """An observation dimension that equals an action dimension some steps later."""

    action_dim: int
    obs_dim: int
    steps: int
    is_previous_action: bool
    """Whether the observation is rather the previous action than the action the next one."""


class Copies:
    """Counts of equal numbers for each delay k, action j and observation i still possible."""

    def __init__(self, model: Demonstrations) -> None:
        self._names = model.obs_names
        self._candidates: Array | None = None  # (C, 3): k, j, i
        self._equal, self._changes = np.zeros(0, int), np.zeros(0, int)  # (C,)
        self._starts_at_zero = np.ones(len(model.obs_names), bool)
        self._episodes = 0

    def see(self, r: RawEpisode) -> None:
        """Add an episode of vector observations."""
        if not self._names or len(r.action) < 2:
            return
        if self._candidates is not None and not len(self._candidates):
            return  # all are ruled out
        if self._candidates is None:
            self._candidates = _possible(r.obs[:_ROWS], r.action[:_ROWS])
            self._equal = self._changes = np.zeros(len(self._candidates), int)
        self._episodes += 1
        self._starts_at_zero &= r.obs[0] == 0
        equal, changes = _counts(r.obs, r.action, self._candidates)
        self._equal, self._changes = self._equal + equal, self._changes + changes
        keep = self._equal >= _SHARE * self._changes - _FEW
        self._candidates = self._candidates[keep]
        self._equal, self._changes = self._equal[keep], self._changes[keep]

    def detect(self) -> tuple[Copy, ...]:
        """Return the copy of each action dimension that has one, with the shortest delay."""
        if self._candidates is None:
            return ()
        fits = (self._changes >= _FEW) & (self._equal >= _SHARE * self._changes)
        copies: dict[int, Copy] = {}
        for k, j, i in sorted(self._candidates[fits].tolist()):
            is_zero = bool(self._starts_at_zero[i]) and self._episodes > 1
            is_previous = k == 1 and (is_named_previous(self._names[i]) or is_zero)
            copies.setdefault(j, Copy(j, i, k, is_previous))
        return tuple(copies.values())


def is_named_previous(name: str) -> bool:
    """Return whether the name of an observation says that it is the previous action."""
    return _PREVIOUS.search(name) is not None


def _possible(obs: Array, action: Array) -> Array:
    """Return all k, j, i that a few rows do not rule out: (C, 3)."""
    shape = MOST + 1, action.shape[1], obs.shape[1]
    every = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, 3)
    equal, changes = _counts(obs, action, every)
    return np.asarray(every[equal >= 0.5 * changes])


def _counts(obs: Array, action: Array, candidates: Array) -> tuple[Array, Array]:
    """Return at how many steps each candidate is equal, and at how many its action changes."""
    equal, changes = np.zeros(len(candidates), int), np.zeros(len(candidates), int)
    changed = np.vstack([np.ones((1, action.shape[1]), bool), action[1:] != action[:-1]])
    for k in np.unique(candidates[:, 0]).tolist():
        index = np.flatnonzero(candidates[:, 0] == k)
        for part in np.array_split(index, max(1, len(index) // 1000)):
            a = action[: max(0, len(action) - k), candidates[part, 1]]  # (T - k, C)
            s = obs[k:, candidates[part, 2]]
            is_equal = np.abs(a - s) <= _EQUAL * np.maximum(np.abs(a), np.abs(s))
            counts = changed[: len(a), candidates[part, 1]]
            equal[part], changes[part] = (is_equal & counts).sum(axis=0), counts.sum(axis=0)
    return equal, changes
