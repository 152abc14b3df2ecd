"""Held-out errors by lag: how well a state k steps ago explains the action shown now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from counterbc.data.action_scale import scaled_actions
from counterbc.data.angles import cos_and_sin
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode
from counterbc.data.field_checks import check_fields, field_from, limited_field
from counterbc.errors import DataError
from counterbc.kernels.threads import one_thread
from counterbc.selection.clusters import Estimate, cluster_mean, episode_clusters
from counterbc.selection.folds import Folds, some_episodes, split_folds
from counterbc.selection.kernel_regression import KernelRegression
from counterbc.selection.lag_grid import coarse_lags, finer_lags
from counterbc.selection.learned_features import MOST_ACTIONS, FeatureRegression
from counterbc.selection.readings import readings, with_image_components

OWN_PAST = 2
"""Past actions of the demonstrator that the second criterion reads."""
OWN_PAST_PAIRS = 600
"""Pairs at most that the second criterion uses."""
FEATURE_GAIN = 0.9
"""Learned features are used where their error is below this share of the error without them."""


@dataclass(frozen=True)
class LagSearch:
    """How the lag is searched."""

    seconds: float = limited_field(0.4, "above 0", lambda seconds: seconds > 0)
    """The longest lag tried where the data have a rate."""
    longest: int = field_from(1, 12)
    """The longest lag tried where they have none, in steps. Half of the median episode bounds both
    of them."""
    folds: int = field_from(2, 5)
    """Number of folds; the others predict each."""
    pairs: int = field_from(20, 1600)
    """Of larger datasets, random whole episodes with about this many pairs are used."""
    seed: int = 0
    """Seed of the random split into folds, and of the choice of episodes."""

    def __post_init__(self) -> None:
        check_fields(self)

    def lags(self, demos: Demonstrations) -> range:
        """Return the lags to try on a dataset, in steps: 0 … K."""
        return range(min(self.limit(demos), _half_episode(demos)) + 1)

    def is_cut_short(self, demos: Demonstrations) -> bool:
        """Return whether the episodes are too short to try the longest lag."""
        return _half_episode(demos) < self.limit(demos)

    def limit(self, demos: Demonstrations) -> int:
        """Return the longest lag that is tried on long episodes, in steps."""
        return self.longest if demos.rate is None else round(self.seconds * demos.rate)


def _half_episode(demos: Demonstrations) -> int:
    """Return half of the median episode, in steps."""
    return int(np.median([len(e) for e in demos.episodes]) / 2)


@dataclass(frozen=True, eq=False)
class LagErrors:
    """Squared errors of G lags on n actions, summed over action dimensions."""

    lags: tuple[int, ...]
    action: Array
    """(n, A): the actions, scaled to [-1, 1]."""
    predicted: Array
    """(G, n, A): what the model of each lag predicts at each state; it did not see the episode."""
    by_step: Array
    """(n,): squared errors of the mean action of other episodes at the same step. It predicts the
    first k actions of an episode, which answer no state of it."""
    step: Array
    """(n,): the step of each action in its episode."""
    own_past: Array | None
    """(G, m): squared errors of a_t predicted from s_(t−k) and the demonstrator's last two actions,
    for the steps that every lag predicts; None for images and for episodes that are too short."""
    cluster: Array
    """(n,): the episode of each action, or its stretch of steps where there are few episodes."""

    @property
    def spread(self) -> Array:
        """(n,): squared distance of a_t from the mean action."""
        return np.asarray(((self.action - self.action.mean(0)) ** 2).sum(-1))

    @cached_property
    def squares(self) -> Array:
        """(G, n): a_t predicted from s_(t−k) by the model of lag k."""
        return np.stack([self._squares(g, k) for g, k in enumerate(self.lags)])

    @property
    def best(self) -> int:
        """The number of the lag with the least error."""
        return int(np.argmin(self.squares.mean(1)))

    @cached_property
    def above(self) -> list[Estimate]:
        """(G,): error above that of the best lag, action by action."""
        return [cluster_mean(row - self.squares[self.best], self.cluster) for row in self.squares]

    @property
    def smallest_as_good(self) -> int:
        """The number of the smallest lag but 0 from which on all lags are as good as the best; 0 if
        that is the best."""
        return self._end_as_good(range(self.best - 1, 0, -1)) if self.best else 0

    @property
    def largest_as_good(self) -> int:
        """The number of the largest lag up to which all are as good as the best."""
        return self._end_as_good(range(self.best + 1, len(self.lags)))

    def _end_as_good(self, numbers: range) -> int:
        """Return the last of these lags before one that is worse by more than a standard error.

        Lags that are as good in another valley of the error do not count.
        """
        worse = (g for g in numbers if self.above[g].value > self.above[g].se)
        return next(worse, numbers.stop) - numbers.step

    def by_lag(self, g: int) -> Array:
        """Return the squares (K + 1, n) if the model of one lag acts with lags of 0 … K."""
        return np.stack([self._squares(g, k) for k in range(self.lags[-1] + 1)])

    def _squares(self, g: int, k: int) -> Array:
        squares, t = self.by_step.copy(), np.flatnonzero(self.step >= k)
        squares[t] = ((self.action[t] - self.predicted[g, t - k]) ** 2).sum(-1)
        return squares


def lag_errors(
    demos: Demonstrations,
    search: LagSearch,
    device: torch.device,
    *,
    history: int = 1,
    lags: Sequence[int] = (),
    on_lag: Callable[[float], None] = lambda _: None,
) -> LagErrors:
    """Return the errors of each lag, for models that read `history` observations.

    All lags share one model: the one with the least error at its best lag. Where there are many
    lags, evenly spaced ones come first; then those around the best, around 0, and around the
    smallest and the largest that are as good as the best. `lags` are tried instead if given.
    `on_lag` is called with the error of each lag.
    """
    longest, demos = search.lags(demos)[-1], with_image_components(cos_and_sin(demos))
    with one_thread():
        models = LagModels(demos, search, longest, device, history, on_lag)
        errors = models.errors(lags or coarse_lags(longest))
        if not lags:
            near = [errors.lags[errors.best], 0]
            errors = models.errors([k for lag in near for k in finer_lags(errors.lags, lag)])
            near = [errors.lags[g] for g in (errors.smallest_as_good, errors.largest_as_good)]
            errors = models.errors([k for lag in near for k in finer_lags(errors.lags, lag)])
        if history > 1:
            return errors
        own_past = _own_past_squares(demos, errors.lags, search, device, on_lag)
    return replace(errors, own_past=own_past)


class LagModels:
    """Regressions on the states of a dataset, which predict actions of lags up to the longest."""

    def __init__(
        self,
        demos: Demonstrations,
        search: LagSearch,
        longest: int,
        device: torch.device,
        history: int = 1,
        on_lag: Callable[[float], None] = lambda _: None,
    ) -> None:
        self.folds, self.on_lag = lag_folds(demos, search, longest), on_lag
        action = scaled_actions(demos, demos.action)
        step = np.arange(len(action)) - demos.starts
        off = action - _mean_by_step(action, step, self.folds, longest)
        self.base = LagErrors(
            lags=(), action=action, predicted=np.empty(0), by_step=(off**2).sum(-1),
            step=step, own_past=None, cluster=episode_clusters(demos, max(2 * longest, 10)),
        )  # fmt: skip
        read = readings(_window(demos, history))
        plain = [KernelRegression(x, device) for x in read]
        self.plain = sum(len(r.precision) for r in plain)
        self.regressions: list[KernelRegression | FeatureRegression] = [*plain]
        if demos.action_size <= MOST_ACTIONS:
            self.regressions.append(FeatureRegression(read[-1], device))
        self.predicted: dict[int, Array] = {}

    def errors(self, lags: Sequence[int]) -> LagErrors:
        """Return the errors of these lags and of all before, by the kernel with the least."""
        for k in lags:
            if k not in self.predicted:
                self.predicted[k] = self.predict(k)
                self.on_lag(float(self._best((k,)).squares.mean()))
        return self._best(tuple(sorted(self.predicted)))

    def predict(self, lag: int | Array) -> Array:
        """Return what each model predicts at each state, by lag or by lags of pairs: (M, n, A)."""
        action, step = self.base.action, self.base.step
        target = np.minimum(np.arange(len(action)) + lag, len(action) - 1)
        given = (action[target], self.folds, step[target] == step + lag)
        return np.concatenate([r.predict(*given) for r in self.regressions])

    def best(self, errors: Sequence[float]) -> int:
        """Return the number of the model with the least error.

        It learned features only if that makes the error considerably smaller; elsewhere they would
        only add chance to the choice of a lag.
        """
        plain, best = int(np.argmin(errors[: self.plain])), int(np.argmin(errors))
        return best if errors[best] < FEATURE_GAIN * errors[plain] else plain

    def _best(self, lags: tuple[int, ...]) -> LagErrors:
        predicted = np.stack([self.predicted[k] for k in lags], axis=1)  # (M, G, n, A)
        models = [replace(self.base, lags=lags, predicted=p) for p in predicted]
        return models[self.best([float(m.squares.mean(1).min()) for m in models])]


def lag_folds(demos: Demonstrations, search: LagSearch, longest: int) -> Folds:
    """Return folds of whole episodes, or of blocks that lie two of the longest lags apart."""
    return split_folds(demos, search.folds, search.seed, gap=2 * longest)


def _window(demos: Demonstrations, history: int) -> Array:
    """Return the last observations at each step; the first of an episode is repeated."""
    if history == 1:
        return demos.obs
    index = np.arange(len(demos.obs))
    past = [demos.obs[np.maximum(index - back, demos.starts)] for back in range(history)]
    return np.concatenate(past, axis=1)


def _mean_by_step(action: Array, step: Array, folds: Folds, longest: int) -> Array:
    """Return the mean action at the same step of what other folds hold: (n, A)."""
    mean = np.empty_like(action)
    for held_out in folds.held_out:
        inside = np.zeros(len(action), bool)
        inside[held_out] = True
        mean[inside] = action[~inside].mean(0)
        for t in range(longest):
            if (same := ~inside & (step == t)).any():
                mean[inside & (step == t)] = action[same].mean(0)
    return mean


def _own_past_squares(
    demos: Demonstrations,
    lags: Sequence[int],
    search: LagSearch,
    device: torch.device,
    on_lag: Callable[[float], None],
) -> Array | None:
    """Return squared errors (G, m) of actions predicted from a past state and own actions.

    None for images, and where the episodes are too short.
    """
    if len(demos.obs_shape) > 1:
        return None
    demos = some_episodes(demos, OWN_PAST_PAIRS, search.seed, search.folds)
    try:
        late = [_with_own_past(demos, k, lags[-1]) for k in lags]
        folds = lag_folds(late[0], search, lags[-1])
    except DataError:  # too few steps are left
        return None
    action, known = scaled_actions(late[0], late[0].action), np.ones(len(late[0].obs), bool)
    rows = []
    for data in late:
        models = [KernelRegression(x, device) for x in readings(data.obs)]
        predicted = np.concatenate([m.predict(action, folds, known) for m in models])
        rows.append(((action - predicted) ** 2).sum(-1))
        on_lag(float(rows[-1].mean(1).min()))
    squares = np.stack(rows, axis=1)  # (M, G, m)
    return np.asarray(squares[squares.mean(-1).min(1).argmin()])


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
