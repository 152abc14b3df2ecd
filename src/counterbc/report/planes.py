"""Two numbers of an observation to draw a path with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterbc.data.demonstrations import Array, Demonstrations

_FOLLOWS = 0.9  # correlation of an action with the observation that it sets
_ENOUGH = 0.7  # of the variance, for two principal components to stand for a path


@dataclass(frozen=True, eq=False)
class Plane:
    """What is drawn to the right and upwards."""

    names: tuple[str, str]
    turn: Array
    """(S, 2): from observations, less their centre, to the plane."""
    centre: Array
    """(S,)"""
    holds_actions: bool = False
    """Whether actions are places in it, too."""

    def of(self, obs: Array) -> Array:
        """(T, S) → (T, 2)."""
        return np.asarray((obs - self.centre) @ self.turn)


def path_plane(demos: Demonstrations) -> Plane | None:
    """Where paths are drawn: positions that the actions set, else x and y, else the directions
    in which most of the data varies. None where no two numbers tell enough."""
    if len(demos.obs_shape) != 1 or demos.obs_shape[0] < 2:
        return None
    followed = _followed(demos)
    if followed is not None:
        return _columns(demos, followed, holds_actions=True)
    named = _named(demos.obs_names)
    if named is not None:
        return _columns(demos, named)
    plane, share = principal_plane(demos.obs)
    return plane if share >= _ENOUGH else None


def principal_plane(obs: Array) -> tuple[Plane, float]:
    """The first two principal components of standardized rows, and the variance they hold."""
    centre, scale = obs.mean(0, dtype=float), obs.std(0, dtype=float)
    scale = np.where(scale > 1e-9, scale, 1.0)
    _, size, directions = np.linalg.svd((obs - centre) / scale, full_matrices=False)
    directions = np.pad(directions, ((0, max(0, 2 - len(directions))), (0, 0)))
    shares = np.pad(size**2 / max((size**2).sum(), 1e-12), (0, 1))
    names = tuple(f"component {i + 1} ({shares[i]:.0%} of the variance)" for i in range(2))
    turn = (directions[:2] / scale).T  # (S, 2)
    return Plane((names[0], names[1]), turn, centre), float(shares[:2].sum())


def last_states(demos: Demonstrations, angles: Sequence[str] = ()) -> Array:
    """Where each episode ends, angles as cosine and sine: (E, S)."""
    last = np.array([e.obs[-1] for e in demos.episodes], float)
    is_angle = np.isin(demos.obs_names, list(angles))
    turns = last[:, is_angle]
    return np.concatenate([last[:, ~is_angle], np.cos(turns), np.sin(turns)], axis=1)


def _columns(demos: Demonstrations, pair: tuple[int, int], holds_actions: bool = False) -> Plane:
    width = demos.obs_shape[0]
    turn = np.eye(width)[:, list(pair)]  # (S, 2)
    names = (demos.obs_names[pair[0]], demos.obs_names[pair[1]])
    return Plane(names, turn, np.zeros(width), holds_actions)


def _followed(demos: Demonstrations) -> tuple[int, int] | None:
    """The observations that two actions name as targets, in the same units."""
    if demos.action_size != 2:
        return None
    obs, action = demos.obs.astype(float), demos.action.astype(float)
    found = []
    for a in action.T:
        spread, own = obs.std(0), a.std()
        shared = ((obs - obs.mean(0)) * (a - a.mean())[:, None]).mean(0)  # (S,)
        near = shared / np.maximum(spread * own, 1e-12)
        best = int(near.argmax())
        if near[best] < _FOLLOWS or not 0.5 < own / max(spread[best], 1e-12) < 2:
            return None
        found.append(best)
    return (found[0], found[1]) if found[0] != found[1] else None


def _named(names: tuple[str, ...]) -> tuple[int, int] | None:
    """The first name that ends in x and has its counterpart in y."""
    for i, name in enumerate(names):
        if name[-1:] in ("x", "X"):
            other = name[:-1] + ("y" if name[-1] == "x" else "Y")
            if other in names:
                return i, names.index(other)
    return None
