"""Two numbers of an observation that a path is drawn with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.angles import cos_and_sin
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations

_FOLLOWS = 0.9  # correlation of an action with the observation that it sets
_ENOUGH = 0.7  # of the variance, for two principal components to stand for a path


@dataclass(frozen=True, eq=False)
class Plane:
    """A map from observations to the two axes of a figure."""

    names: tuple[str, str]
    turn: Array
    """(S, 2): the map, after the centre is subtracted."""
    centre: Array
    """(S,)"""
    holds_actions: bool = False
    """Whether actions are points of the plane, too."""

    def of(self, obs: Array) -> Array:
        """Return the points of observations: (T, S) → (T, 2)."""
        return np.asarray((obs - self.centre) @ self.turn)


def path_plane(demos: Demonstrations) -> Plane | None:
    """Return the plane to draw paths in: positions that the actions set, or else x and y, or else
    the first two principal components; None if two numbers do not describe the path."""
    if len(demos.obs_shape) != 1 or demos.obs_shape[0] < 2:
        return None
    targets = _targets(demos)
    if targets is not None:
        return _columns(demos, targets, holds_actions=True)
    x_and_y = _x_and_y(demos.obs_names)
    if x_and_y is not None:
        return _columns(demos, x_and_y)
    plane, share = principal_plane(demos.obs)
    return plane if share >= _ENOUGH else None


def principal_plane(obs: Array) -> tuple[Plane, float]:
    """Return the first two principal components of standardized rows, and their variance share."""
    centre, scale = obs.mean(0, dtype=float), obs.std(0, dtype=float)
    scale = np.where(scale > 1e-9, scale, 1.0)
    _, size, directions = np.linalg.svd((obs - centre) / scale, full_matrices=False)
    directions = np.pad(directions, ((0, max(0, 2 - len(directions))), (0, 0)))
    shares = np.pad(size**2 / max((size**2).sum(), 1e-12), (0, 1))
    names = tuple(f"component {i + 1} ({shares[i]:.0%} of the variance)" for i in range(2))
    turn = (directions[:2] / scale).T  # (S, 2)
    return Plane((names[0], names[1]), turn, centre), float(shares[:2].sum())


def last_states(demos: Demonstrations) -> Array:
    """Return the last observation of each episode, angles as cosine and sine: (E, S)."""
    return np.array([e.obs[-1] for e in cos_and_sin(demos).episodes], float)


def _columns(demos: Demonstrations, pair: tuple[int, int], holds_actions: bool = False) -> Plane:
    width = demos.obs_shape[0]
    turn = np.eye(width)[:, list(pair)]  # (S, 2)
    names = (demos.obs_names[pair[0]], demos.obs_names[pair[1]])
    return Plane(names, turn, np.zeros(width), holds_actions)


def _targets(demos: Demonstrations) -> tuple[int, int] | None:
    """Return the observations that the two actions are targets for, in the same units."""
    if demos.action_size != 2:
        return None
    obs, action = demos.obs.astype(float), demos.action.astype(float)
    columns = []
    for a in action.T:
        obs_std, action_std = obs.std(0), a.std()
        covariance = ((obs - obs.mean(0)) * (a - a.mean())[:, None]).mean(0)  # (S,)
        correlation = covariance / np.maximum(obs_std * action_std, 1e-12)
        best = int(correlation.argmax())
        ratio = action_std / max(obs_std[best], 1e-12)
        if correlation[best] < _FOLLOWS or not 0.5 < ratio < 2:
            return None
        columns.append(best)
    return (columns[0], columns[1]) if columns[0] != columns[1] else None


def _x_and_y(names: tuple[str, ...]) -> tuple[int, int] | None:
    """Return the first name that ends in x and its counterpart in y."""
    for i, name in enumerate(names):
        if name[-1:] in ("x", "X"):
            partner = name[:-1] + ("y" if name[-1] == "x" else "Y")
            if partner in names:
                return i, names.index(partner)
    return None
