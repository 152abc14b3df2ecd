"""Detect actions that are targets: values that an observed quantity moves towards.

For action dimension j and observation dimension i, over all pairs that have a successor, let

    distance    = a_j − s_i                         how far the target lies from the observation
    movement    = s'_i − s_i                        how the observation moves until the next step
    nearness    = rms(distance) / std(a_j)          0: the action repeats the observation
    correlation = corr(distance, movement)          1: the observation moves as far as it is asked

The action is a target of s_i if nearness is below `NEAR` and correlation above `CORRELATED`. Only a
quantity in the units of the action can be that near. If the action equals the next observation,
rms(a_j − s'_i) below `COPY` · rms(distance), the pair may have been recorded that way round: its
action was computed from the next observation, and is then no command that anybody gave.
"""

from __future__ import annotations

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode_block import EpisodeBlock, blocks
from counterbc.data.inspection_report import ActionTarget
from counterbc.data.raw_episode import raw_episodes

NEAR = 0.5
"""Largest rms distance between action and observation, in standard deviations of the action."""
CORRELATED = 0.2
"""Smallest correlation between distance and movement."""
COPY = 0.1
"""Largest rms distance from the next observation, as a share of that from the present one."""
FEW = 20
"""Pairs with a successor, below which nothing is detected."""


class Targets:
    """The moments of actions a, observations s and movements m, from episodes in sequence.

    Values are taken relative to those of the first pair, so that an offset costs no digits.
    """

    def __init__(self, model: Demonstrations) -> None:
        self._obs_names, self._action_names = model.obs_names, model.action_names
        self._rows = 0
        self._origin: tuple[Array, Array] | None = None
        self._sums: dict[str, Array] = {}

    def see(self, block: EpisodeBlock) -> None:
        """Add episodes; pairs with values that are not finite are left out."""
        if not self._obs_names or not block.follows.any():
            return
        obs, action = block.obs.astype(np.float64), block.action.astype(np.float64)[:-1]
        is_finite = np.asarray(np.isfinite(obs).all(axis=1))
        rows = block.follows & is_finite[:-1] & is_finite[1:] & np.isfinite(action).all(axis=1)
        if not rows.any():
            return
        a, s, m = action[rows], obs[:-1][rows], np.diff(obs, axis=0)[rows]
        if self._origin is None:
            self._origin = a[0], s[0]
        a, s = a - self._origin[0], s - self._origin[1]
        self._rows += len(a)
        for key, total in {
            "a": a.sum(0), "s": s.sum(0), "m": m.sum(0), "aa": (a * a).sum(0),
            "ss": (s * s).sum(0), "mm": (m * m).sum(0), "sm": (s * m).sum(0),
            "as": a.T @ s, "am": a.T @ m,
        }.items():  # fmt: skip
            self._sums[key] = self._sums.get(key, 0) + total

    def detect(self) -> tuple[ActionTarget, ...]:
        """Return the nearest quantity of each action dimension that is a target of one."""
        if self._origin is None or self._rows < FEW:
            return ()
        nearness, correlation, copy = self._measures(*self._origin)
        fits = (nearness < NEAR) & (correlation > CORRELATED)  # (A, S)
        nearest = np.where(fits, nearness, np.inf).argmin(axis=1).tolist()
        return tuple(
            ActionTarget(
                kind="next observation" if copy[j, i] < COPY else "target",
                action=self._action_names[j],
                action_dim=j,
                obs=self._obs_names[i],
                obs_dim=i,
                nearness=float(nearness[j, i]),
                correlation=float(correlation[j, i]),
            )
            for j, i in enumerate(nearest)
            if fits[j, i]
        )

    def _measures(self, action_origin: Array, obs_origin: Array) -> tuple[Array, Array, Array]:
        """Return nearness, correlation, and rms(a − s') over rms(a − s), each (A, S)."""
        mean = {key: total / self._rows for key, total in self._sums.items()}
        a, s, m = mean["a"][:, None], mean["s"], mean["m"]
        var_a, var_s, var_m = (np.maximum(mean[k + k] - mean[k] ** 2, 0) for k in ("a", "s", "m"))
        var_d = np.maximum(var_a[:, None] + var_s - 2 * (mean["as"] - a * s), 0)  # d = a − s
        cov_dm = (mean["am"] - a * m) - (mean["sm"] - s * m)
        mean_d = (action_origin[:, None] - obs_origin) + a - s
        squares = var_d + mean_d**2
        next_squares = np.maximum(var_d - 2 * cov_dm + var_m, 0) + (mean_d - m) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            nearness = np.sqrt(squares / var_a[:, None])
            return nearness, cov_dm / np.sqrt(var_d * var_m), np.sqrt(next_squares / squares)


def action_targets(demos: Demonstrations) -> tuple[ActionTarget, ...]:
    """Return the action dimensions of a dataset that are targets of an observed quantity."""
    targets = Targets(demos)
    for block in blocks(raw_episodes(demos)):
        targets.see(block)
    return targets.detect()
