"""How much of the actions' variance is explained, by what, and whether that is enough.

    share = 1 − Σ|a − predicted|² / Σ|a − mean action|²        over held-out actions a

Three shares are distinguished, because a policy that sees the previous action, directly or through
a velocity or a history, predicts the next one by repeating it (the copycat problem):

    present    from the observation of the same step
    previous   by repeating the previous action alone
    beyond     of what the last two actions leave unexplained, by observations up to this step

Only the first and the third say that demonstrators respond to what they see. The first does not
where the observation shows the previous action, exactly or with noise. Such an observation explains

    present = visible · last two

of actions that depend on the previous ones alone, where `visible` is the share of the previous
action that the observation explains, and `last two` the share of the actions that the last two
actions explain. Observations that explain more show what demonstrators respond to. All three are
measured by regressions on a few pairs. Held-out policies, which learn from all pairs, explain more
of any actions, so a product that they exceed shows nothing; what counts of their predictions is

    response   of what the last two actions leave unexplained, by the predictions, less what these
               have in common with the last two actions
"""

from __future__ import annotations

import math
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
_ROUNDING = 1e-9  # of a product with 100
_RELAYED = 1.2  # present / (visible · last two), up to which the observation may only relay that


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
        return "{} % [{}, {}]".format(*self.percents)

    @property
    def percents(self) -> tuple[int, int, int]:
        """Value and ends in per cent, within 0 and 100; the lower end is rounded down, so that it
        does not reach a level that the share misses."""
        value, low, high = (100 * min(max(x, 0.0), 1.0) for x in (self.value, self.low, self.high))
        return round(value), math.floor(low + _ROUNDING), round(high)


@dataclass(frozen=True)
class Past:
    """What past actions and past observations explain."""

    previous: Share
    """By repeating the previous action alone."""
    beyond: Share
    """Of what the last two actions leave, by this observation and the two before it."""
    visible: Share
    """Of the previous action, by the present observation: near 1 if that shows it."""
    last_two: Share
    """Of the actions, by the last two actions alone."""
    present: Share
    """Of the actions, by the present observation, measured like the shares above."""

    @property
    def is_visible(self) -> bool:
        """Whether the present observation shows the previous action."""
        return self.visible.low >= _VISIBLE

    @property
    def only_relays(self) -> bool:
        """Whether the present observation explains no more of the actions than it would if it
        showed the previous action with noise and nothing else."""
        relayed = max(self.visible.value, 0.0) * max(self.last_two.value, 0.0)
        return self.present.value <= _RELAYED * relayed


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
    response: Share | None = None
    """Of what the last two actions leave, by what held-out policies predict beyond these; None
    where no predictions of theirs are at hand."""

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
        it or explains no more than a noisy view of it, and too little is explained beyond it."""
        if self.past is None or self.history_tells:
            return False
        responds = self.response is not None and self.response.is_enough
        return self.past.is_visible or (self.may_be_noisy_view and not responds)

    @property
    def may_be_noisy_view(self) -> bool:
        """Whether the actions are explained, but to a regression on a few pairs the observation
        explains no more than a noisy view of the previous action."""
        if self.past is None or self.past.is_visible:
            return False
        return self.present.is_enough and self.past.only_relays

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
        if self.response is not None and self.may_be_noisy_view:
            rows.append(("of what the last two actions leave, by policies", self.response))
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
    def obstacle(self) -> str:
        """Why the data allow no ranking, as a clause of other sentences."""
        if self.may_only_repeat:
            return "policies may only repeat the previous action"
        return "too little of the actions is explained"

    @property
    def refusal(self) -> str:
        """The sentence for data that cannot tell."""
        if self.may_only_repeat:
            is_noisy = self.may_be_noisy_view
            shows = "explains no more than a noisy view of" if is_noisy else "shows"
            return (
                f"Cannot tell: the observation {shows} the previous action, and policies may only "
                "repeat it, which does not tell a good demonstration from a bad one; of what the "
                f"last two actions leave, {self.counted} is explained, and {NEEDED}"
            )
        if self.counts_beyond:
            return (
                f"Cannot tell: policies that read {self.history} observations may repeat past "
                f"actions; of what the last two leave, {self.counted} is explained, and {NEEDED}"
            )
        by = "" if self.policies is None else f" by policies that read {self.history} observations"
        return (
            f"Cannot tell: of the actions' variance, {self.counted} is explained{by}, and {NEEDED}"
        )

    @property
    def counts_beyond(self) -> bool:
        """Whether the share beyond the last two actions decides, because policies explain enough
        only by a previous action that they may see."""
        if self.past is None or self.history_tells:
            return False
        reads_past = self.policies is not None and self.policies.is_enough
        return self.may_only_repeat or (reads_past and not self.present.is_enough)

    @property
    def counted(self) -> Share:
        """The share that decides: that of the policies, or beyond the last two actions."""
        if self.past is None or not self.counts_beyond:
            return self.present if self.policies is None else self.policies
        if self.response is not None and self.may_be_noisy_view:
            return self.response
        return self.past.beyond

    @property
    def remedy(self) -> str:
        """What may raise the share."""
        if self.may_only_repeat:
            return (
                "Leave out the observation that shows the previous action, such as a velocity, or "
                "choose other keys (--obs): those that demonstrators act on, such as goals or "
                "objects. Where actions are targets of what is observed, such as positions, it "
                "cannot be left out; then only returns can judge episodes (counterbc influence "
                "--env)"
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
