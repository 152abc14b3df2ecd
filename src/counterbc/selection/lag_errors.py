"""Held-out errors by lag: how well a state k steps ago explains the action shown now."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterbc.acting.policies import Policies
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode
from counterbc.data.scaling import scaled_actions
from counterbc.errors import DataError, OptionError
from counterbc.methods import METHODS
from counterbc.selection.clusters import episode_clusters
from counterbc.selection.folds import Folds, split_folds
from counterbc.selection.held_out import (
    Candidate,
    Training,
    errors_of,
    held_out_errors,
    train_held_out,
)

OWN_PAST = 2
"""Past actions of the demonstrator that the second criterion reads."""
BATCH = 64
"""The most pairs per gradient step of these policies."""


@dataclass(frozen=True)
class LagSearch:
    """How the lag is searched."""

    seconds: float = 0.4
    """The longest lag tried where the data have a rate."""
    longest: int = 12
    """The longest lag tried where they have none, in steps. Half of the median episode bounds both
    of them."""
    folds: int = 5
    """Number of folds; policies trained on the other folds predict each."""
    lag_steps: tuple[int, ...] = (300, 1000, 3000)
    """Gradient steps after which the policies, plain BC on one observation, are compared; each lag
    has the number that suits it best."""
    pairs: int = 4000
    """Of larger datasets, random whole episodes with about this many pairs are used."""
    seed: int = 0
    """Seed of the random split into folds, and of the choice of episodes."""

    def __post_init__(self) -> None:
        for name, ok, rule in (
            ("seconds", 0 < self.seconds < math.inf, "above 0"),
            ("longest", self.longest >= 1, "1 or more"),
            ("folds", self.folds >= 2, "2 or more"),
            ("lag_steps", min(self.lag_steps, default=0) >= 1, "one or more, 1 or above"),
            ("pairs", self.pairs >= 20, "20 or more"),
        ):
            if not ok:
                raise OptionError(f"{name} is {getattr(self, name)}; it must be {rule}")

    def lags(self, demos: Demonstrations) -> range:
        """Return the lags to try on a dataset, in steps: 0 … K."""
        median = float(np.median([len(e) for e in demos.episodes]))
        longest = self.longest if demos.rate is None else round(self.seconds * demos.rate)
        return range(min(longest, int(median / 2)) + 1)


@dataclass(frozen=True, eq=False)
class LagErrors:
    """Squared errors of G lags on n actions, summed over action dimensions."""

    lags: tuple[int, ...]
    squares: Array
    """(G, n): a_t predicted from s_(t−k) by a policy that reads one observation. The first k
    actions of an episode answer no state of it; they are predicted by the mean action of other
    episodes at the same step."""
    own_past: Array | None
    """(G, m): a_t predicted from s_(t−k) and the demonstrator's last two actions, for the steps
    that every lag predicts; None for images and for episodes that are too short."""
    spread: Array
    """(n,): squared distance of a_t from the mean action."""
    cluster: Array
    """(n,): the episode of each action, or its stretch of steps where there are few episodes."""
    by_lag: Callable[[int], Array]
    """The squares (G, n) if the policies trained with one lag act with all of them."""


def lag_errors(
    datasets: Sequence[Demonstrations], search: LagSearch, training: Training
) -> list[LagErrors]:
    """Return the errors of each dataset, all of them from one population for each criterion."""
    settings = replace(
        training.settings,
        radius=0.0,
        steps=max(search.lag_steps),
        held_out=0.0,
        policy=None,
        modes=None,
        ensemble=1,
        largest_batch=BATCH,
    )
    method = settings.apply(METHODS["bc"], datasets[0].obs_shape)
    training = replace(training, name="bc", method=method, settings=settings)
    lags = [search.lags(d) for d in datasets]
    folds = [[lag_folds(d, search, k[-1])] for d, k in zip(datasets, lags, strict=True)]
    candidates = [[Candidate(lag=(float(k),)) for k in ks] for ks in lags]
    snapshots = train_held_out(datasets, folds, candidates, training, search.lag_steps)
    checks = _own_past_squares(datasets, lags, search, training)
    return [
        _lag_errors(*values)
        for values in zip(datasets, lags, folds, zip(*snapshots, strict=True), checks, strict=True)
    ]


def lag_folds(demos: Demonstrations, search: LagSearch, longest: int) -> Folds:
    """Return folds of whole episodes, or of blocks that lie two of the longest lags apart."""
    return split_folds(demos, search.folds, search.seed, gap=2 * longest)


def _lag_errors(
    demos: Demonstrations,
    lags: range,
    folds: Sequence[Folds],
    snapshots: Sequence[Sequence[Sequence[Policies]]],
    own_past: Array | None,
) -> LagErrors:
    pairs = demos.learned
    step, action = pairs - demos.starts[pairs], scaled_actions(demos, demos.action[pairs])

    def squares(populations: Sequence[Sequence[Policies]]) -> Array:
        errors = errors_of(demos, folds, populations)
        off = action - _mean_by_step(action, step, errors.fold[0], lags[-1])
        residual = np.where(np.isnan(errors.residual[0]), off, errors.residual[0])
        return np.asarray((residual**2).sum(-1))

    tables = np.stack([squares(populations) for populations in snapshots])  # (S, G, n)
    suits = tables.mean(-1).argmin(0)  # (G,)

    def by_lag(k: int) -> Array:
        acting = [[p[k] for p in policies] for policies in snapshots[suits[k]]]
        return np.concatenate([squares(_with_lag(acting, float(lag))) for lag in lags])

    return LagErrors(
        lags=tuple(lags),
        squares=tables[suits, np.arange(len(lags))],
        own_past=own_past,
        spread=((action - action.mean(0)) ** 2).sum(-1),
        cluster=episode_clusters(demos, max(2 * lags[-1], 10)),
        by_lag=by_lag,
    )


def _with_lag(populations: Sequence[Sequence[Policies]], lag: float) -> list[list[Policies]]:
    """Return the policies as if all of them had been trained with this lag."""
    return [
        [replace(p, members=tuple(replace(m, lag=(lag,)) for m in p.members)) for p in policies]
        for policies in populations
    ]


def _mean_by_step(action: Array, step: Array, fold: Array, longest: int) -> Array:
    """Return the mean action at the same step of what other folds hold: (n, A)."""
    mean = np.empty_like(action)
    for k in range(int(fold.max()) + 1):
        other = fold != k
        mean[~other] = action[other].mean(0)
        for t in range(longest):
            if (same := other & (step == t)).any():
                mean[~other & (step == t)] = action[same].mean(0)
    return mean


def _own_past_squares(
    datasets: Sequence[Demonstrations],
    lags: Sequence[range],
    search: LagSearch,
    training: Training,
) -> list[Array | None]:
    """Return squared errors (G, m) of actions predicted from a past state and own actions.

    None for images, and where the episodes are too short.
    """
    if len(datasets[0].obs_shape) > 1:
        return [None] * len(datasets)
    flat: list[tuple[Demonstrations, list[Folds]]] = []
    is_long = []
    for demos, ks in zip(datasets, lags, strict=True):
        try:
            late = [_with_own_past(demos, k, ks[-1]) for k in ks]
            folds = [lag_folds(late[0], search, ks[-1])]
        except DataError:  # too few steps are left
            is_long.append(False)
            continue
        flat += [(d, folds) for d in late]
        is_long.append(True)
    if not flat:
        return [None] * len(datasets)
    candidates = [[Candidate()]] * len(flat)
    middle = sorted(search.lag_steps)[len(search.lag_steps) // 2]
    training = replace(training, settings=replace(training.settings, steps=middle))
    (errors,) = held_out_errors([d for d, _ in flat], [f for _, f in flat], candidates, training)
    squares = iter((e.residual[0, 0] ** 2).sum(-1) for e in errors)
    return [
        np.stack([next(squares) for _ in ks]) if long else None
        for ks, long in zip(lags, is_long, strict=True)
    ]


def _with_own_past(demos: Demonstrations, lag: int, longest: int) -> Demonstrations:
    """Return the pairs (s_(t−k), a_(t−1), a_(t−2)) → a_t of all steps that every lag predicts."""
    first = max(longest, OWN_PAST)
    episodes = []
    for e in demos.episodes:
        if len(e) > first:
            past = [e.action[first - i : len(e) - i] for i in range(1, OWN_PAST + 1)]
            obs = np.concatenate([e.obs[first - lag : len(e) - lag], *past], axis=1)
            episodes.append(Episode(obs=obs, action=e.action[first:], operator=e.operator))
    return replace(
        demos, episodes=tuple(episodes), obs_names=(), obs_keys=(), masks={}, selected=None
    )
