"""Choose the lag: how late the demonstrators react to what they see.

A demonstrator who reacts d steps late shows a_t = π*(s_(t−d)) + noise. Policies that read one
observation are trained on (s_t, a_(t+k)) for k = 0 … K, and predict actions of held-out episodes.
Their error is least at k = d. Negative lags are never tried: a past action is visible in the
velocities of the state, so that they always look good and mean nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import NONE, lag_text
from counterbc.errors import DataError
from counterbc.selection.clusters import Estimate, cluster_mean
from counterbc.selection.held_out import LEAST_SHARE, Training, cannot_tell, explained_share
from counterbc.selection.lag_errors import LagErrors, LagSearch, lag_errors, lag_folds

LEAST_PAIRS = 100
"""With fewer pairs no lag is searched."""
LEAST_EPISODES = 5
"""Episodes of an operator who may have a lag of their own."""
_SIGNIFICANT = 2.5  # standard errors, for lags of single operators and for confidence


@dataclass(frozen=True)
class LagChoice:
    """The lag of a dataset, with the evidence for it."""

    lag: tuple[float, ...] = NONE
    """In steps: one for everybody, or one per operator. 0 where the data cannot tell."""
    verdict: Literal["late", "not late", "cannot tell", "given"] = "cannot tell"
    reason: str = ""
    """Why the data cannot tell; empty otherwise."""
    confident: bool = False
    """Whether a lag is significant, and the demonstrators' own past actions point to the same."""
    lags: tuple[int, ...] = ()
    error: tuple[float, ...] = ()
    """Held-out squared error of each lag."""
    above: tuple[float, ...] = ()
    """Error above that of the chosen lag, action by action, and its standard error over
    episodes."""
    above_se: tuple[float, ...] = ()
    own_past_error: tuple[float, ...] = ()
    """Error of each lag where the last two actions are read beside the past state."""
    explained: Estimate | None = None
    """Share of the actions' variance that the best lag explains."""
    operators: tuple[str, ...] = ()
    """The operators of `lag`, where they have lags of their own."""
    rate: float | None = None
    """Steps per second, if recorded."""

    @property
    def explanation(self) -> str:
        """The finding in the user's words."""
        if self.verdict == "cannot tell":
            return f"Cannot tell how late the demonstrators react: {self.reason}. No lag is undone"
        if self.verdict == "given":
            return f"Lag {lag_text(self.lag, self.rate)}, as given"
        if self.verdict == "not late":
            text = "No lag is undone: none explains the actions clearly better than 0"
            best = self.lags[int(np.argmin(self.error))] if self.error else 0
            other = f"; a lag of {lag_text((best,), self.rate)} explains them as well"
            return text + (other if best > 1 else "")
        who = zip(self.operators, self.lag, strict=True) if self.operators else ()
        parts = [f"{name} reacts {lag_text((k,), self.rate)} late" for name, k in who]
        text = "; ".join(parts) or f"The demonstrators react {lag_text(self.lag, self.rate)} late"
        sure = "their own past actions confirm it" if self.confident else "not confirmed by a check"
        return f"{text} ({sure})"

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as JSON has it."""
        return asdict(self) | {"explanation": self.explanation}


def choose_lags(
    datasets: Sequence[Demonstrations], training: Training, search: LagSearch | None = None
) -> list[LagChoice]:
    """Return the lag of each dataset, all of them from one population."""
    search = search or LagSearch()
    choices = [_unsearchable(d, search) for d in datasets]
    samples = [_sample(d, search) for d, c in zip(datasets, choices, strict=True) if c is None]
    errors = iter(lag_errors(samples, search, training) if samples else [])
    data = iter(samples)
    return [_choice(next(data), next(errors)) if choice is None else choice for choice in choices]


def _unsearchable(demos: Demonstrations, search: LagSearch) -> LagChoice | None:
    """Return why no lag can be searched in a dataset; None where one can."""
    action = demos.action
    reason = None
    if demos.selected is not None:
        reason = "the pairs are scattered, so the actions shown later are not known"
    elif len(demos.obs_shape) > 1:
        reason = "on images no lag is searched; give it with --lag"
    elif demos.pairs < LEAST_PAIRS:
        reason = f"{demos.pairs} pairs are too few; record {LEAST_PAIRS} or more"
    elif (action == action[0]).all():
        reason = "all actions are the same"
    elif search.lags(demos)[-1] < 1:
        reason = "the episodes are too short"
    elif not _can_be_split(demos, search):
        reason = f"the episodes are too few and too short; record {search.folds} or more"
    return None if reason is None else LagChoice(reason=reason, rate=demos.rate)


def _can_be_split(demos: Demonstrations, search: LagSearch) -> bool:
    try:
        lag_folds(demos, search, search.lags(demos)[-1])
    except DataError:
        return False
    return True


def _sample(demos: Demonstrations, search: LagSearch) -> Demonstrations:
    """Return random whole episodes with about as many pairs as the search uses."""
    if demos.pairs <= search.pairs:
        return demos
    order = np.random.default_rng(search.seed).permutation(len(demos))
    lengths = np.array([len(e) for e in demos.episodes])[order]
    count = max(1, int(np.searchsorted(lengths.cumsum(), search.pairs)))
    return demos.subset(sorted(order[:count].tolist()))


def _choice(demos: Demonstrations, errors: LagErrors) -> LagChoice:
    best = int(np.argmin(errors.squares.mean(1)))
    k = smallest_as_good(errors.squares, errors.cluster)
    share = explained_share(errors.squares[best], errors.spread, errors.cluster)
    above = [cluster_mean(row - errors.squares[k], errors.cluster) for row in errors.squares]
    own_past = () if errors.own_past is None else tuple(errors.own_past.mean(1).tolist())
    choice = LagChoice(
        lags=errors.lags,
        error=tuple(errors.squares.mean(1).tolist()),
        above=tuple(a.value for a in above),
        above_se=tuple(a.se for a in above),
        own_past_error=own_past,
        explained=share,
        rate=demos.rate,
    )
    if cannot_tell(share):
        reason = (
            f"policies explain {max(share.value, 0):.0%} ± {share.se:.0%} of held-out actions, and "
            f"{LEAST_SHARE:.0%} is needed"
        )
        return replace(choice, reason=reason)
    lag, operators = _by_operator(demos, errors, k)
    return replace(
        choice,
        lag=lag,
        operators=operators,
        verdict="late" if any(lag) else "not late",
        confident=bool(own_past) and _is_sure(k, int(np.argmin(own_past)), above[0]),
    )


def _is_sure(k: int, by_own_past: int, zero_above: Estimate) -> bool:
    """Return whether both criteria find the lag k, and lag 0 is significantly worse."""
    return k > 0 and by_own_past == k and zero_above.value > _SIGNIFICANT * zero_above.se


def smallest_as_good(squares: Array, cluster: Array) -> int:
    """Return the first of G lags whose error (G, n) is within one standard error of the least.

    Lags are compared action by action; the standard error is over clusters.
    """
    best = int(np.argmin(squares.mean(1)))
    for k in range(best):
        above = cluster_mean(squares[k] - squares[best], cluster)
        if above.value <= above.se:
            return k
    return best


def _by_operator(
    demos: Demonstrations, errors: LagErrors, k: int
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Return one lag, or one per operator where they differ significantly from it.

    Each operator's actions are predicted by the policies of the common lag k, at every lag.
    """
    common = (float(errors.lags[k]),)
    names = [e.operator for e in demos.episodes]
    if len(demos.operators) < 2 or None in names:
        return common, ()
    operator = np.repeat(np.array([str(n) for n in names]), [len(e) for e in demos.episodes])
    squares, lags = errors.by_lag(k), []
    for name in demos.operators:
        rows, own = operator == name, squares[:, operator == name]
        best = int(np.argmin(own.mean(1)))
        cluster = np.unique(errors.cluster[rows], return_inverse=True)[1]
        gain = cluster_mean(own[k] - own[best], cluster)
        differs = names.count(name) >= LEAST_EPISODES and gain.value > _SIGNIFICANT * gain.se
        lags.append(float(errors.lags[best if differs else k]))
    return (common, ()) if len(set(lags)) == 1 else (tuple(lags), demos.operators)
