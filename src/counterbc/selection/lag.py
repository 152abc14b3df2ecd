"""Choose the lag: how late the demonstrators react to what they see.

A demonstrator who reacts d steps late shows a_t = π*(s_(t−d)) + noise. Kernel regressions on one
observation learn (s_t, a_(t+k)) for k = 0 … K, and predict actions of held-out episodes. Their
error is least at k = d. Negative lags are never tried: a past action is visible in the velocities
of the state, so that they always look good and mean nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import lag_text, lags_among
from counterbc.errors import DataError
from counterbc.selection.clusters import Estimate, cluster_mean
from counterbc.selection.folds import some_episodes
from counterbc.selection.held_out import Training
from counterbc.selection.lag_choice import LagChoice
from counterbc.selection.lag_errors import (
    LagErrors,
    LagSearch,
    lag_errors,
    lag_folds,
)
from counterbc.selection.lag_grid import most_lags
from counterbc.selection.lag_operators import operator_lags
from counterbc.selection.shares import NEEDED, Share
from counterbc.training.progress import Progress

LEAST_PAIRS = 100
"""With fewer pairs no lag is searched."""
LEAST_EPISODES = 5
"""Episodes of an operator who may have a lag of their own."""
_SIGNIFICANT = 2.5  # standard errors, for lags of single operators and for confidence
_GAINS = ((1.5, 0.2), (2.5, 0.1))
"""What a lag must save of the error without one: standard errors, and the share of that error."""
_VALLEY = 0.1  # share of the error on the ridge by which a second valley is lower


def choose_lags(
    datasets: Sequence[Demonstrations], training: Training, search: LagSearch | None = None
) -> list[LagChoice]:
    """Return the lag of each dataset, for the policy that will be trained."""
    search = search or LagSearch()
    bar = _LagBar(training.progress)
    choices = [_unsearchable(d, search) for d in datasets]
    for d, choice in zip(datasets, choices, strict=True):
        bar.total += 0 if choice else _most_lags(d, training, search)
    with bar:
        return [
            choice or _search(d, training, search, bar)
            for d, choice in zip(datasets, choices, strict=True)
        ]


def _has_history(demos: Demonstrations, training: Training) -> bool:
    """Return whether lags are also tried with as many observations as the policy reads."""
    return training.method.policy.history > 1 and len(demos.obs_shape) == 1


def _most_lags(demos: Demonstrations, training: Training, search: LagSearch) -> int:
    """Return how many lags are tried at most, counted once for each kind of model."""
    kinds = 1 + (len(demos.obs_shape) == 1) + _has_history(demos, training)
    return kinds * most_lags(search.lags(demos)[-1])


class _LagBar:
    """Shows how many lags were tried, over all datasets."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.total, self.done = progress, 0, 0

    def __enter__(self) -> None:
        if self.total:
            self.progress.start(0, self.total, "lags")

    def __exit__(self, *_: object) -> None:
        if self.total:
            self.progress.stop()

    def advance(self, error: float) -> None:
        """Show one more lag, with its error."""
        self.done += 1
        self.progress.update(self.done, torch.tensor([error]))


def _unsearchable(demos: Demonstrations, search: LagSearch) -> LagChoice | None:
    """Return why no lag can be searched in a dataset; None where one can."""
    action = demos.action
    reason = None
    if demos.selected is not None:
        reason = "the pairs are scattered, so the actions shown later are not known"
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


def _search(
    demos: Demonstrations, training: Training, search: LagSearch, bar: _LagBar
) -> LagChoice:
    sample = some_episodes(demos, search.pairs, search.seed, search.folds)
    errors = lag_errors(sample, search, training.device, on_lag=bar.advance)
    choice = _choice(sample, search, errors)
    if choice.verdict == "cannot tell" and choice.tells and search.is_cut_short(sample):
        choice = _differently_late(sample, search, training.device, choice)
    if choice.operators:  # of whom the sample may lack some
        lag = lags_among(choice.lag, sample, demos)
        choice = replace(choice, lag=lag, operators=demos.operators)
    if _has_history(demos, training):
        errors = lag_errors(
            sample, search, training.device, history=training.method.policy.history,
            lags=choice.lags, on_lag=bar.advance,
        )  # fmt: skip
        choice = replace(choice, history_error=tuple(errors.squares.mean(1).tolist()))
    return choice


def _choice(demos: Demonstrations, search: LagSearch, errors: LagErrors) -> LagChoice:
    squares, best, above = errors.squares, errors.best, errors.above
    share = Share.of(squares[best], errors.spread, errors.cluster)
    own_past = () if errors.own_past is None else tuple(errors.own_past.mean(1).tolist())
    choice = LagChoice(
        lags=errors.lags,
        error=tuple(squares.mean(1).tolist()),
        above=tuple(a.value for a in above),
        above_se=tuple(a.se for a in above),
        own_past_error=own_past,
        explained=share,
        rate=demos.rate,
    )
    if not share.is_enough:
        reason = f"models explain {share} of the variance of held-out actions, and {NEEDED}"
        return replace(choice, reason=reason)
    is_late = _is_late(above[0], choice.error[0])
    if errors.lags[best] > 1 and not is_late:
        words = lag_text((errors.lags[best],), demos.rate)
        return replace(choice, reason=f"a lag of {words} explains the actions as well as none")
    common = middle(errors) if is_late else 0.0
    lag, operators = _by_operator(demos, errors, common, best if is_late else 0)
    if not any(lag):
        valley = errors.lags[_valley(squares, errors.cluster)]
        if search.is_cut_short(demos):
            return replace(choice, reason=_too_short(errors.lags[-1], demos.rate), valley=valley)
        return replace(choice, verdict="not late", valley=valley)
    return replace(
        choice,
        lag=lag,
        operators=operators,
        verdict="late",
        confident=best < len(squares) - 1
        and bool(own_past)
        and _is_sure(common, errors.lags[int(np.argmin(own_past))], above[0]),
    )


def _differently_late(
    demos: Demonstrations, search: LagSearch, device: torch.device, choice: LagChoice
) -> LagChoice:
    """Return a lag for each operator if they are differently late, else the choice as it is."""
    found = operator_lags(demos, search, device)
    if found is None or not found.are_late:
        return choice
    lag = tuple(map(float, found.lags))
    return replace(choice, lag=lag, operators=demos.operators, verdict="late", reason="", valley=0)


def _too_short(longest: int, rate: float | None) -> str:
    """Return why episodes cannot tell though no lag was found: longer ones could not be tried."""
    return (
        f"no lag up to {lag_text((longest,), rate)} explains the actions better than 0, and the "
        "episodes are too short to try longer ones"
    )


def _valley(squares: Array, cluster: Array) -> int:
    """Return the number of the lag in a second valley of the error, below the ridge before it; 0
    for none."""
    error = squares.mean(1)
    for k in range(2, len(error) - 1):
        ridge = int(error[:k].argmax())
        fall = cluster_mean(squares[ridge] - squares[k], cluster)
        is_least = error[k] == error[max(k - 2, 0) : k + 3].min()
        if ridge > 0 and is_least and fall.value > max(fall.se, _VALLEY * error[ridge]):
            return k
    return 0


def _is_late(zero_above: Estimate, zero_error: float) -> bool:
    """Return whether the best lag has a clearly and considerably smaller error than none."""
    return any(zero_above.value > max(z * zero_above.se, x * zero_error) for z, x in _GAINS)


def _is_sure(lag: float, by_own_past: int, zero_above: Estimate) -> bool:
    """Return whether both criteria find the lag, and no lag is significantly worse."""
    agree = lag > 0 and by_own_past > 0 and abs(by_own_past - lag) <= 0.5
    return agree and zero_above.value > _SIGNIFICANT * zero_above.se


def middle(errors: LagErrors) -> float:
    """Return the middle of the lags within one standard error of the best: neighbouring states are
    alike, so that the smallest would be too small, and the largest too large."""
    return (errors.lags[errors.smallest_as_good] + errors.lags[errors.largest_as_good]) / 2


def _by_operator(
    demos: Demonstrations, errors: LagErrors, common: float, g: int
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Return the common lag, or one per operator where they differ significantly from it.

    The model of the best lag, number g, predicts each operator's actions at every lag.
    """
    names = [e.operator for e in demos.episodes]
    if len(demos.operators) < 2 or None in names:
        return (common,), ()
    operator = np.repeat(np.array([str(n) for n in names]), [len(e) for e in demos.episodes])
    squares, k, lags = errors.by_lag(g), errors.lags[g], []
    for name in demos.operators:
        rows, own = operator == name, squares[:, operator == name]
        best = int(np.argmin(own.mean(1)))
        cluster = np.unique(errors.cluster[rows], return_inverse=True)[1]
        gain = cluster_mean(own[k] - own[best], cluster)
        differs = names.count(name) >= LEAST_EPISODES and gain.value > _SIGNIFICANT * gain.se
        lags.append(float(best) if differs else common)
    return ((common,), ()) if len(set(lags)) == 1 else (tuple(lags), demos.operators)
