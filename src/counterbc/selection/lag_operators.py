"""Lags of operators who are differently late, in episodes too short for a common lag to show.

Two steps alternate, from one long lag for everybody: a model learns (s_t, a_(t+k)) with the lag k
of each operator, and each operator takes the lag at which models that did not see the episode
predict their actions best. Operators who react at once return to 0, and late ones stay late.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.kernels.threads import one_thread
from counterbc.selection.clusters import Estimate, cluster_mean
from counterbc.selection.lag_errors import LagModels, LagSearch
from counterbc.selection.shares import Share

LEAST_OPERATORS = 5
"""With fewer operators their lags are not searched in this way."""
LONGEST_SHARE = 0.7
"""The longest lag tried, as a share of the median episode."""
_START = 0.8  # of the longest lag: where the search begins
_ROUNDS = 8
_LATE, _LATE_SHARE = 2, 0.75  # steps, and the share of the operators who must be that late
_SCATTER = 0.75  # of the standard deviation of lags that are drawn at random
_EXPLAINED = 0.7  # of the actions' variance: in noisy actions, each operator's best lag is chance


@dataclass(frozen=True, eq=False)
class OperatorLags:
    """The lag of each operator, with the evidence for it."""

    lags: Array
    """(O,): in steps, in the order of the dataset's operators."""
    longest: int
    """The longest lag tried."""
    gain: Estimate
    """How far the held-out error is below that without a lag, action by action."""
    explained: Share
    """Share of the actions' variance that these lags explain."""

    @property
    def are_late(self) -> bool:
        """Whether most operators are late by lags that agree better than chance, and these explain
        the actions well, and as well as none."""
        by_chance = self.longest / np.sqrt(12)  # standard deviation of a uniform distribution
        return bool(
            (self.lags >= _LATE).mean() >= _LATE_SHARE
            and self.lags.std() <= _SCATTER * by_chance
            and self.explained.value >= _EXPLAINED
            and self.gain.value > -self.gain.se
        )


def operator_lags(
    demos: Demonstrations, search: LagSearch, device: torch.device
) -> OperatorLags | None:
    """Return the lags of the operators; None where not every episode names one of several."""
    names = [e.operator for e in demos.episodes]
    if None in names or len(demos.operators) < LEAST_OPERATORS:
        return None
    lengths = [len(e) for e in demos.episodes]
    number = [demos.operators.index(str(name)) for name in names]
    longest = min(search.limit(demos), int(LONGEST_SHARE * np.median(lengths)))
    with one_thread():
        alternation = _Alternation(
            LagModels(demos, search, longest, device), np.repeat(number, lengths), longest
        )
        none = alternation.squares(np.zeros(len(demos.operators), int))[0]  # (n,)
        lags, squares = alternation.run(round(_START * longest))
    base = alternation.models.base
    return OperatorLags(
        lags, longest, cluster_mean(none - squares, base.cluster),
        Share.of(squares, base.spread, base.cluster),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Alternation:
    """Models of all operators, and the lags at which they predict each operator best."""

    models: LagModels
    operator: Array
    """(n,): the operator of each pair."""
    longest: int

    def run(self, start: int) -> tuple[Array, Array]:
        """Return the lags (O,) that one lag for everybody leads to, and their squares (n,)."""
        count = int(self.operator.max()) + 1
        lags = np.full(count, start)
        for _ in range(_ROUNDS):
            by_lag = self.squares(lags)[1]
            best = [by_lag[:, self.operator == o].mean(1).argmin() for o in range(count)]
            if (lags == best).all():
                break
            lags = np.array(best)
        return lags, self.squares(lags)[0]

    def squares(self, lags: Array) -> tuple[Array, Array]:
        """Return the squared errors with these lags, (n,), and with each lag, (K + 1, n).

        The model learned with the lags of all operators; it is the one with the least error.
        """
        of_pair, models = lags[self.operator], self.models
        tables = [
            replace(models.base, lags=(self.longest,), predicted=p[None]).by_lag(0)
            for p in models.predict(of_pair)
        ]
        rows = [table[of_pair, np.arange(len(of_pair))] for table in tables]
        best = models.best([float(row.mean()) for row in rows])
        return rows[best], tables[best]
