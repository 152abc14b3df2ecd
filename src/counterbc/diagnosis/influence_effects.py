"""The effect of each episode with its uncertainty, by least squares over random halves."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from counterbc.acting.intervals import holm
from counterbc.data.arrays import Array
from counterbc.errors import CannotTell
from counterbc.selection.clusters import Estimate
from counterbc.selection.shares import NEEDED, Share

Measure = Literal["held-out error", "return"]
_LEVEL = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class Influence:
    """What each of E episodes adds to a policy; positive numbers help."""

    names: tuple[str, ...]
    operators: tuple[str | None, ...]
    effect: Array
    """(E,): the share of the held-out error that learning from the episode removes; or what it adds
    to the return."""
    covariance: Array
    """(E, E): of the effects."""
    degrees: int
    """Splits beyond the number of episodes."""
    measure: Measure
    mean: float
    """The mean held-out error, squared, where each action dimension spans [−1, 1]; or return."""
    differs: float
    """p of the hypothesis that all episodes help alike."""
    explained: Share | None
    """The share of the variance of the judged actions that policies of half the data explain where
    they did not learn; None if returns were measured."""
    splits: int
    steps: int
    env: str | None = None
    may_only_repeat: bool = False
    """Whether the observation shows the previous action, or to a regression on a few pairs explains
    no more than a noisy view of it, and too little is explained beyond it; not asked if returns
    were measured."""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def can_tell(self) -> bool:
        """Whether returns were measured, or policies explain enough for errors to mean anything."""
        is_enough = self.explained is None or self.explained.is_enough
        return is_enough and not self.may_only_repeat

    @property
    def obstacle(self) -> str:
        """Why the held-out errors say nothing about what an episode is worth, as a clause."""
        if self.may_only_repeat:
            return "policies may only repeat the previous action"
        return f"of the actions' variance, {self.explained} is explained, and {NEEDED}"

    @property
    def se(self) -> Array:
        """The standard errors: (E,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def quantile(self) -> float:
        """How many standard errors a 95 % interval has on either side."""
        from scipy import stats

        return float(stats.t.ppf(1 - _LEVEL / 2, self.degrees))

    @property
    def interval(self) -> Array:
        """The 95 % interval of each effect, not adjusted for their number: (E, 2)."""
        half = self.quantile * self.se
        return np.stack([self.effect - half, self.effect + half], 1)

    @cached_property
    def harmful(self) -> Array:
        """Whether an episode clearly makes policies worse: (E,).

        One-sided p-values below 5 % after Holm's method, of episodes that differ from each other.
        Warn where the errors cannot tell.
        """
        from scipy import stats

        if not self.can_tell:
            text = f"harmful episodes mean nothing here: {self.obstacle}"
            warnings.warn(text, CannotTell, stacklevel=3)
        p = stats.t.cdf(self.effect / np.maximum(self.se, 1e-300), self.degrees)
        clear = np.array(holm(p.tolist())) < _LEVEL
        return clear & (self.differs < _LEVEL)

    def of_operator(self, name: str) -> Estimate:
        """Return the mean effect of an operator's episodes, with its standard error."""
        inside = np.array([operator == name for operator in self.operators]) / 1.0
        weight = inside / inside.sum()
        return Estimate(
            float(weight @ self.effect), float(np.sqrt(weight @ self.covariance @ weight))
        )

    def __repr__(self) -> str:
        about = f"Influence of {len(self)} episodes on the {self.measure} by {self.splits} splits"
        if not self.can_tell:
            return f"{about}; cannot tell: {self.obstacle}"
        order = np.argsort(self.effect, kind="stable")
        worst = ", ".join(f"{self.names[i]} {self.effect[i]:+.3g}" for i in order[:3])
        return f"{about}; least helpful: {worst}"


def least_squares(first: Array, difference: Array) -> dict[str, Any]:
    """Return the effects β, their covariance, and p of the hypothesis that all are equal."""
    from scipy import stats

    x = np.where(first, 1.0, -1.0)  # (K, E)
    splits, episodes = x.shape
    inverse = np.linalg.pinv(x.T @ x)
    effect = inverse @ x.T @ difference
    degrees = splits - episodes
    rest = float(((difference - x @ effect) ** 2).sum())
    alike = x.sum(1)  # one effect for all episodes
    common = alike @ difference / max(alike @ alike, 1e-300)
    gap = max(float(((difference - common * alike) ** 2).sum()) - rest, 0.0)
    f = gap / (episodes - 1) / max(rest / degrees, 1e-300)
    return {
        "effect": effect,
        "covariance": inverse * rest / degrees,
        "degrees": degrees,
        "differs": float(stats.f.sf(f, episodes - 1, degrees)),
    }
