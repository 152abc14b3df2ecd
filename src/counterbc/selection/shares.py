"""How much of the actions' variance is explained, by what, and whether that is enough.

    share = 1 − Σ|a − predicted|² / Σ|a − mean action|²        over held-out actions a

Three shares are distinguished, because a policy that sees the previous action, directly or through
a velocity or a history, predicts the next one by repeating it (the copycat problem):

    present    from the observation of the same step
    previous   by repeating the previous action alone
    beyond     of what the last two actions leave unexplained, by observations up to this step

Only the first and the third say that demonstrators respond to what they see.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from counterbc.data.arrays import Array
from counterbc.data.names import shorten
from counterbc.selection.clusters import cluster_sums, trimmed_ratio

LEAST_SHARE = 0.1
"""Where less of the actions' variance is explained, the data cannot tell."""
NEEDED = f"the lower end must reach {LEAST_SHARE:.0%}"
"""The requirement that a share which is too low misses."""
_LEVEL = 0.9  # of the intervals
_TRIM = 0.1  # of the episodes, at either end
_VISIBLE = 0.9  # of the previous action's variance: the observation shows it


@dataclass(frozen=True)
class Share:
    """A share of a variance with its 90 % interval over episodes."""

    value: float
    low: float
    high: float

    @staticmethod
    def of(squares: Array, spread: Array, cluster: Array) -> Share:
        """Return the share of the variance of n actions that held-out predictions explain, without
        the tenth of the episodes of which they explain least and the tenth of which they explain
        most: a few episodes with another goal would otherwise decide.

        `squares` are squared errors of the predictions and `spread` squared distances from the mean
        action: (n,) each. 1 is a perfect prediction; 0 or less is no better than the mean action.
        """
        cluster = np.unique(cluster, return_inverse=True)[1]
        if not spread.sum() > 0:
            return Share(np.nan, np.nan, np.nan)
        left = trimmed_ratio(cluster_sums(squares, cluster), cluster_sums(spread, cluster), _TRIM)
        clusters = int(cluster.max()) + 1
        freedom = max(clusters - 2 * int(_TRIM * clusters) - 1, 1)
        half = float(stdtrit(freedom, (1 + _LEVEL) / 2)) * left.se
        return Share(1 - left.value, 1 - left.value - half, 1 - left.value + half)

    @property
    def is_enough(self) -> bool:
        """Whether the data can tell: all of the interval is at or above the least share."""
        return self.low >= LEAST_SHARE

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "nothing varies"
        if self.high < 0.005:
            return "none"
        ends = (f"{100 * min(max(x, 0.0), 1.0):.0f}" for x in (self.value, self.low, self.high))
        return "{} % [{}, {}]".format(*ends)


@dataclass(frozen=True)
class Past:
    """What past actions and past observations explain."""

    previous: Share
    """By repeating the previous action alone."""
    beyond: Share
    """Of what the last two actions leave, by this observation and the two before it."""
    visible: Share
    """Of the previous action, by the present observation: near 1 if that shows it."""


@dataclass(frozen=True)
class Explained:
    """Whether a dataset can tell good from bad, and why."""

    present: Share
    """Explained by the observation of the same step."""
    per_dimension: tuple[Share, ...]
    """The same of each action dimension."""
    action_names: tuple[str, ...]
    past: Past | None = None
    """None for episodes of one step."""
    history: int = 1
    """Observations that the held-out policies read."""
    policies: Share | None = None
    """Explained by held-out policies that read a history; None where they read none."""

    @property
    def history_tells(self) -> bool:
        """Whether past observations explain enough beyond the previous action."""
        return self.past is not None and self.past.beyond.is_enough

    @property
    def tells(self) -> bool:
        """Whether enough is explained for a ranking: from the present observation or, by policies
        with a history, beyond the previous action; never by repeating that action."""
        if self.may_only_repeat:
            return False
        if self.history == 1 or self.policies is None:
            return self.present.is_enough
        return self.policies.is_enough and (self.present.is_enough or self.history_tells)

    @property
    def may_only_repeat(self) -> bool:
        """Whether policies may do no more than repeat the previous action: the observation shows
        it, and observations explain too little beyond it."""
        shows_action = self.past is not None and self.past.visible.low >= _VISIBLE
        return shows_action and not self.history_tells

    @property
    def rows(self) -> list[tuple[str, Share]]:
        """Each share, after the words that say what explains it."""
        rows = [("from the present observation", self.present)]
        if self.policies is not None:
            rows.append((f"by policies that read {self.history} observations", self.policies))
        if self.past is not None:
            rows += [
                ("by repeating the previous action alone (does not count)", self.past.previous),
                ("of what the last two actions leave, by observations", self.past.beyond),
            ]
        return rows

    @property
    def dimensions(self) -> list[tuple[str, Share]]:
        """The share of each action dimension, after its name."""
        return list(zip(self.action_names, self.per_dimension, strict=True))

    @property
    def verdict(self) -> tuple[str, ...]:
        """Whether the data can tell, with doubts about it or what to do; one sentence each."""
        if not self.tells:
            return (self.refusal, self.remedy)
        sentences = []
        varies = [(n, share) for n, share in self.dimensions if not np.isnan(share.value)]
        low = [name for name, share in varies if not share.is_enough]
        if low:
            sentences.append(f"The policies explain too little of {shorten(low, 8)}")
        return tuple(sentences)

    @property
    def refusal(self) -> str:
        """The sentence for data that cannot tell."""
        if self.may_only_repeat:
            return (
                "Cannot tell: the observation shows the previous action, and policies may only "
                "repeat it, which does not tell a good demonstration from a bad one; of what the "
                f"last two actions leave, {self.counted} is explained, and {NEEDED}"
            )
        return f"Cannot tell: of the actions' variance, {self.counted} is explained, and {NEEDED}"

    @property
    def counted(self) -> Share:
        """The share that counts: from the present observation, or beyond the previous action."""
        if self.past is None:
            return self.present
        is_beyond = self.history > 1 and self.present.low <= self.past.beyond.low
        return self.past.beyond if is_beyond or self.may_only_repeat else self.present

    @property
    def remedy(self) -> str:
        """What may raise the share."""
        if self.may_only_repeat:
            return (
                "Leave out the observation that shows the previous action, or choose other keys "
                "(--obs): those that demonstrators act on, such as goals or objects. Where actions "
                "are targets of what is observed, such as positions, it cannot be left out; then "
                "only returns can judge episodes (counterbc influence --env)"
            )
        if self.history == 1 and self.history_tells:
            return (
                "Past observations explain the actions, so try --history auto, which changes the "
                "diagnosis only: policies that are trained with a history often repeat their own "
                "past action and do worse when they act"
            )
        return (
            "Add the observations that demonstrators act on (--obs), such as velocities, goals or "
            "objects; record more episodes; check that observations and actions belong together"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the shares as JSON has them."""
        return asdict(self) | {"tells": self.tells, "least": LEAST_SHARE, "verdict": self.verdict}
