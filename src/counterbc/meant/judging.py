"""meaning(): from demonstrations to what was meant in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from counterbc.demonstrations import Array, Demonstrations
from counterbc.episode import frozen
from counterbc.feasible import Everywhere, Feasible, feasible_set
from counterbc.meant.crossfit import crossfit
from counterbc.meant.limits import relative, within
from counterbc.meant.scores import Score, episode_scores, operator_scores
from counterbc.normalization import Normalization
from counterbc.settings import Settings, settings_for
from counterbc.summary import shorten
from counterbc.trained import radius_text
from counterbc.training.checks import as_datasets, warn_infeasible

FOLDS, REPEATS = 5, 3


@dataclass(frozen=True, eq=False, repr=False)
class Meaning:
    """What was shown and what was meant, pair by pair in episode order; actions in user's units."""

    demos: Demonstrations
    shown: Array
    """(N, A)"""
    believed: Array
    """(N, A): the mean action of policies that did not see the pair's episode."""
    meant: Array
    """(N, A): the believed action, brought within Δ of the shown one and into A."""
    off: Array
    """(N, A): shown − believed, where each action dimension spans [−1, 1]."""
    radius: tuple[float, ...]
    """Δ of each action dimension."""
    shape: str = "ball"
    """Of C(s, a): ball or box."""

    @property
    def distance(self) -> Array:
        """‖shown − believed‖ where each action dimension spans [−1, 1]: (N,)."""
        return np.asarray(np.linalg.norm(self.off, axis=1))

    @property
    def moved(self) -> Array:
        """‖shown − meant‖ in the same units, Δ at most: (N,)."""
        unit = _unit(self.demos, self.shown) - _unit(self.demos, self.meant)
        return np.asarray(np.linalg.norm(unit, axis=1))

    @property
    def weight(self) -> Array:
        """1 / (1 + (d/Δ)²) of the distance d: 1 where shown is believed, ½ at Δ: (N,).

        1 everywhere for a radius of 0.
        """
        beyond = relative(self.off, np.array(self.radius), self.shape)
        return np.asarray(1 / (1 + beyond**2), np.float32)

    @cached_property
    def episodes(self) -> tuple[Score, ...]:
        """The scores of the episodes, in their order."""
        return episode_scores(self.demos, self.off, _unit(self.demos, self.shown))

    @cached_property
    def operators(self) -> tuple[Score, ...]:
        """The scores of the operators in order of first appearance."""
        return operator_scores(self.demos, self.off, self.episodes)

    @property
    def cleaned(self) -> Demonstrations:
        """The demonstrations with every action as it was meant."""
        parts = np.split(self.meant, np.cumsum([len(e) for e in self.demos.episodes])[:-1])
        both = zip(self.demos.episodes, parts, strict=True)
        return replace(self.demos, episodes=tuple(replace(e, action=a) for e, a in both))

    def __repr__(self) -> str:
        worst = sorted(self.episodes, key=lambda s: -s.distance)
        people = [f"{s.name} {s.distance:.3f}" for s in self.operators]
        rms = float(np.sqrt((self.off**2).sum(1).mean()))
        lines = [
            f"Meaning of {self.demos.source or 'demonstrations'}",
            f"  pairs      {len(self.shown)} in {len(self.demos)} episodes",
            f"  radius     {radius_text(self.radius)}",
            f"  distance   {rms:.3f} between shown and meant (RMS; actions span [-1, 1])",
            f"  worst      {shorten([f'{s.name} {s.distance:.3f}' for s in worst])}",
            f"  operators  {shorten(people) or 'not recorded'}",
        ]
        return "\n".join(lines)


def meaning(
    demos: Demonstrations,
    *,
    folds: int = FOLDS,
    repeats: int = REPEATS,
    seed: int = 0,
    **options: Any,
) -> Meaning:
    """Judge every pair by Counter-BC policies that did not see its episode.

    The episodes are dealt to `folds`, anew in each of the `repeats`, over which the believed action
    is averaged. `options` are those of `train`, e.g. radius=0.3 or steps=2000; not seeds or radii.
    """
    (demos,) = as_datasets(demos)
    settings = _settings(options)
    warn_infeasible([demos], settings)
    means, radius = crossfit(demos, folds, repeats, seed, **options)
    shown, believed = demos.action.astype(np.float64), np.nanmean(means, axis=0)  # (N, A) each
    unit, aim = _unit(demos, shown), _unit(demos, believed)
    shape = settings.shape or "ball"
    kept = within(unit, aim, np.array(radius), shape, _feasible(demos))
    scales = _scales(demos)
    low, high = scales.action_low.double(), scales.action_high.double()
    meant = low + (torch.from_numpy(kept) + 1) / 2 * (high - low)
    return Meaning(
        demos,
        shown=frozen(shown, np.float64, "shown"),
        believed=frozen(believed, np.float64, "believed"),
        meant=frozen(meant.numpy(), np.float64, "meant"),
        off=frozen(unit - aim, np.float64, "off"),
        radius=radius,
        shape=shape,
    )


def _settings(options: Mapping[str, Any]) -> Settings:
    """Those that `train` makes of its options."""
    names = {f.name for f in fields(Settings)}
    changes = {k: v for k, v in options.items() if k in names}
    return settings_for(options.get("preset", "default"), **changes)


def _scales(demos: Demonstrations) -> Normalization:
    return Normalization.fit(demos, scale_obs=True, scale_actions=True)


def _unit(demos: Demonstrations, action: Array) -> Array:
    """Actions (N, A) where each dimension spans [−1, 1]."""
    return _scales(demos).action(torch.tensor(action)[None])[0].numpy()


def _feasible(demos: Demonstrations) -> Feasible:
    """A; where no bounds are declared nothing is known to be infeasible."""
    return Everywhere() if demos.action_low is None else feasible_set(demos.action_set)
