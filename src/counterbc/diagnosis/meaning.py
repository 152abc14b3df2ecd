"""meaning(): from demonstrations to what was meant in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch

from counterbc.acting.device import find_device
from counterbc.acting.policies import radius_text
from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.data.episode import read_only
from counterbc.data.names import shorten
from counterbc.data.radii import Radius, radius_of
from counterbc.data.scaling import feasible_units, unit_actions, user_actions
from counterbc.diagnosis.clamp_to_support import relative, trusted, within
from counterbc.diagnosis.components import by_episode
from counterbc.diagnosis.predictions import robust_predictions
from counterbc.diagnosis.scores import Score, episode_scores, operator_scores
from counterbc.methods import find_method
from counterbc.selection.held_out import HeldOut, Training
from counterbc.selection.radius import RadiusSearch, choose_radii
from counterbc.settings import settings_for
from counterbc.training.checks import as_datasets, check_reads, warn_infeasible
from counterbc.training.progress import Bar, Progress, Quiet

_AROUND = 2  # neighbours on either side


@dataclass(frozen=True, eq=False, repr=False)
class Meaning:
    """What was shown and what was meant, pair by pair in episode order; actions in user's units."""

    demos: Demonstrations
    shown: Array
    """(N, A)"""
    believed: Array
    """(N, A): the mean action of policies that did not see the pair's episode."""
    meant: Array
    """(N, A): between the two, nearer to what was shown the more judges disagree; within Δ of it
    and in A."""
    off: Array
    """(N, A): shown − believed, where each action dimension spans [−1, 1]."""
    limited: Array
    """(N,): whether Δ or A kept what is meant from lying nearer to what is believed."""
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
        """‖shown − meant‖ in the same units: (N,); at most Δ where what was shown is feasible."""
        unit = unit_actions(self.demos, self.shown) - unit_actions(self.demos, self.meant)
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
        return episode_scores(self.demos, self.off, unit_actions(self.demos, self.shown))

    @cached_property
    def operators(self) -> tuple[Score, ...]:
        """The scores of the operators in order of first appearance."""
        return operator_scores(self.demos, self.off, self.episodes)

    @property
    def cleaned(self) -> Demonstrations:
        """The demonstrations with every action as it was meant."""
        both = zip(self.demos.episodes, by_episode(self.demos, self.meant), strict=True)
        return replace(self.demos, episodes=tuple(replace(e, action=a) for e, a in both))

    def __repr__(self) -> str:
        worst = sorted(self.episodes, key=lambda s: -s.distance)
        people = [f"{s.name} {s.distance:.3f}" for s in self.operators]
        rms = float(np.sqrt((self.off**2).sum(1).mean()))
        lines = [
            f"Meaning of {self.demos.source or 'demonstrations'}",
            f"  pairs      {len(self.shown)} in {len(self.demos)} episodes",
            f"  radius     {radius_text(self.radius)}",
            f"  distance   {rms:.3f} between shown and believed (RMS; actions span [-1, 1])",
            f"  worst      {shorten([f'{s.name} {s.distance:.3f}' for s in worst])}",
            f"  operators  {shorten(people) or 'not recorded'}",
        ]
        return "\n".join(lines)


def meaning(
    demos: Demonstrations,
    *,
    radius: Radius | Literal["auto"] | None = None,
    judges: HeldOut | None = None,
    search: RadiusSearch | None = None,
    preset: str = "default",
    device: str | torch.device | None = None,
    progress: bool = True,
    **changes: Any,
) -> Meaning:
    """Judge every pair by Counter-BC policies that did not see its episode.

    Nor, where there are three operators or more, another one of the same operator's. Where there
    are fewer episodes than folds, blocks of neighbouring pairs are held out instead.
    `radius` is by default chosen from the data by `search`, or the preset's; `changes` are those of
    `train`.
    """
    (demos,) = as_datasets(demos)
    where, settings = find_device(device), settings_for(preset, **changes)
    if radius is None:
        radius = settings.radius
    warn_infeasible([demos], settings)
    name, method = find_method("counter-bc")
    method = settings.apply(method)
    check_reads(demos, method)
    bar: Progress = Bar("choosing Δ") if progress else Quiet()
    training = Training(name=name, method=method, settings=settings, device=where, progress=bar)
    if isinstance(radius, str):
        settings_for(preset, radius=radius)  # refuses any word but auto
        radius = choose_radii([demos], training, search)[0].radius
    delta = radius_of(radius, [demos])
    training = replace(training, progress=Bar("judging") if progress else Quiet())
    means = robust_predictions(demos, judges or HeldOut(), delta, training)
    shown, believed = demos.action.astype(np.float64), np.nanmean(means, axis=0)  # (N, A) each
    unit, aim, shape = (
        unit_actions(demos, shown),
        unit_actions(demos, believed),
        settings.shape or "ball",
    )
    trust = trusted(unit - aim, _doubt(demos, means))[:, None]  # (N, 1)
    wanted = unit + trust * (aim - unit)
    kept = within(unit, wanted, np.array(delta), shape, feasible_units(demos))
    return Meaning(
        demos,
        shown=read_only(shown, np.float64, "shown"),
        believed=read_only(believed, np.float64, "believed"),
        meant=read_only(user_actions(demos, kept), np.float64, "meant"),
        off=read_only(unit - aim, np.float64, "off"),
        limited=read_only(~np.isclose(kept, wanted, atol=1e-6).all(1), np.bool_, "limited"),
        radius=delta,
        shape=shape,
    )


def _doubt(demos: Demonstrations, means: Array) -> Array:
    """The variance among judges (R, N, A), averaged over five neighbours of an episode: (N,).

    So few judges cannot say it of one pair; and neighbours are known as well or as little.
    """
    units = np.stack([unit_actions(demos, m) for m in means])
    off = units - np.nanmean(units, axis=0)
    known = np.isfinite(off).all(2).sum(0)  # (N,)
    variance = np.nansum(off**2, axis=(0, 2)) / np.maximum(known - 1, 1)  # (N,)
    padded = [np.pad(v, _AROUND, mode="edge") for v in by_episode(demos, variance)]
    box = np.full(2 * _AROUND + 1, 1 / (2 * _AROUND + 1))
    return np.concatenate([np.convolve(v, box, mode="valid") for v in padded])
