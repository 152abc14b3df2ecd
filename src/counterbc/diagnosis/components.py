"""What changes from step to step, what lasts, and how much of it is the judges' own error.

With r_t = shown − believed along an episode of T pairs,

    noise    = ½ mean |r_(t+1) − r_t|²     errors that are new at every step
    lasting  = mean r_t · r_(t+1)          errors that stay: a bias, a delay, another goal

and mean |r|² is about their sum. HeldOut err where they know little, and still do so a step later:
their error lasts, too. But it is in every episode, so its usual size, the median of `lasting`, is
taken for theirs. What is above it is the episode's own. Some of their error does change in a step,
about as much as in the next one: from mean r_t · r_(t+1) to mean r_t · r_(t+2). That is in `noise`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterbc.data.demonstrations import Array, Demonstrations

ODD = 2.5
"""Robust standard deviations above the usual from which on an episode or operator is odd."""
_LEAST = 10  # episodes, below which nobody can say what is usual
_MOST = 1 / 3  # of the episodes can be odd; more of them are a way of their own
_NORMAL = 1.4826  # standard deviation of a normal distribution over its median deviation
_OF_MEDIAN = 1.2533  # standard error of a median over that of the mean, of normal numbers
_PEOPLE = 3  # people, below which nobody can say how people differ


def by_episode(demos: Demonstrations, values: Array) -> list[Array]:
    """Split values of all pairs (N, …) into those of each episode."""
    return np.split(values, np.cumsum([len(e) for e in demos.episodes])[:-1])


@dataclass(frozen=True, eq=False)
class Components:
    """The mean squares of E episodes; NaN for episodes of fewer than three pairs."""

    noise: Array
    """(E,)"""
    lasting: Array
    """(E,): may fall below 0 by chance."""
    chance: Array
    """(E,): the variance of `lasting` by chance, from the pairs of the episode."""
    later: Array
    """(E,): mean r_t · r_(t+2)."""

    @staticmethod
    def of(off: Sequence[Array]) -> Components:
        """From shown − believed of each episode, (T, A) each."""
        return Components(*np.array([_parts(r) for r in off]).T)

    @property
    def judges(self) -> float:
        """The mean square of the judges' error that lasts."""
        return max(_median(self.lasting), 0.0)

    @property
    def quick(self) -> float:
        """The mean square of the judges' error that changes in a step; at most what lasts of it."""
        return float(np.clip(_median(self.lasting - self.later), 0.0, self.judges))

    @property
    def spread(self) -> float:
        """The standard deviation of that error's mean square from episode to episode."""
        known = np.isfinite(self.lasting)
        if known.sum() < 3:
            return 0.0
        between = _deviation(self.lasting[known]) ** 2 - float(np.median(self.chance[known]))
        return float(np.sqrt(max(between, 0.0)))

    def doubt(self, lasts: bool) -> float:
        """The standard error of `quick`, or of `quick` + `judges` where what lasts counts."""
        taken = self.lasting - self.later + (self.lasting if lasts else 0.0)
        known = taken[np.isfinite(taken)]
        return _OF_MEDIAN * _deviation(known) / np.sqrt(len(known)) if len(known) else 0.0

    def between(self, people: Sequence[Sequence[int]]) -> float:
        """The standard deviation of the judges' error from person to person, given the episodes of
        each: by how much what lasts differs more than the chance between episodes explains."""
        each = [self.lasting[own][np.isfinite(self.lasting[own])] for own in people]
        several = [x for x in each if len(x) > 1]
        if len(several) < _PEOPLE:
            return 0.0
        chance = float(np.median([x.var(ddof=1) / len(x) for x in several]))
        means = np.array([x.mean() for x in several])
        return float(np.sqrt(max(_deviation(means) ** 2 - chance, 0.0)))

    def above(self, own: Sequence[int]) -> float:
        """By how much what lasts in these episodes exceeds the judges' error, where that is odd.

        0 where it is not: the mean over n episodes varies with a standard error of deviation / √n,
        and people who differ by chance alone should not be ranked by it.
        """
        lasting = self.lasting[own][np.isfinite(self.lasting[own])]
        if not len(lasting):
            return np.nan
        excess = float(lasting.mean()) - self.judges
        return excess if excess > ODD * _deviation(self.lasting) / np.sqrt(len(lasting)) else 0.0

    @property
    def odd(self) -> Array:
        """How far the worse part is above the usual, in robust standard deviations: (E,)."""
        size = np.sign(self.lasting) * np.sqrt(np.abs(self.lasting))
        each = np.stack([_standing(np.sqrt(self.noise)), _standing(size)])  # (2, E)
        return np.asarray(each.max(axis=0))

    @property
    def learnable(self) -> Array:
        """Which episodes are usual enough for judges to learn from: (E,) bool.

        All of fewer than ten; else at least two in three.
        """
        odd = np.nan_to_num(self.odd, nan=0.0)
        if len(odd) < _LEAST:
            return np.ones(len(odd), bool)
        order = np.argsort(-odd, kind="stable")[: int(_MOST * len(odd))]
        learnable = np.ones(len(odd), bool)
        learnable[order[odd[order] > ODD]] = False
        return learnable


def _parts(r: Array) -> tuple[float, ...]:
    if len(r) < 3:
        return (np.nan,) * 4
    product = (r[1:] * r[:-1]).sum(1)  # (T − 1,)
    noise = 0.5 * (np.diff(r, axis=0) ** 2).sum(1).mean()
    later = (r[2:] * r[:-2]).sum(1).mean()
    return float(noise), float(product.mean()), float(product.var() / (len(r) - 2)), float(later)


def _median(values: Array) -> float:
    """Of what is known; 0 where nothing is."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else 0.0


def _deviation(values: Array) -> float:
    """A standard deviation that a few wild values do not change."""
    return _NORMAL * float(np.nanmedian(np.abs(values - np.nanmedian(values))))


def _standing(values: Array) -> Array:
    """Above the median in robust standard deviations; 0 where nothing varies."""
    if not np.isfinite(values).any():
        return np.zeros(len(values))
    deviation = _deviation(values)
    usual = np.nanmedian(values)
    return np.asarray((values - usual) / deviation if deviation > 0 else 0 * values)
