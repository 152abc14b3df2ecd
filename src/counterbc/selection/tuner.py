"""tune(): choose the lag, Δ, the number of steps and the size of an ensemble from the data.

Everything is chosen by the error of held-out actions, coarse to fine: the lag by plain BC; then
Δ × steps, whose snapshots come from one training; then the size of an ensemble. Every method is
tuned by the same search; for BC only Δ is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from counterbc.acting.device import find_device
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import lag_of, lagged_pairs
from counterbc.data.radii import Radius
from counterbc.data.scaling import unit_actions
from counterbc.errors import CounterBCError, DataError
from counterbc.methods import Method, find_method
from counterbc.selection.clusters import Estimate, cluster_mean, episode_clusters
from counterbc.selection.doubts import LEAST_STEPS, Doubt, largest_is_best, several_modes
from counterbc.selection.folds import Folds, split_folds
from counterbc.selection.held_out import (
    Candidate,
    HeldOutErrors,
    Training,
    explained_share,
    held_out_errors,
)
from counterbc.selection.lag import LagChoice, choose_lags
from counterbc.selection.lag_errors import LagSearch
from counterbc.selection.tuning import Trial, TuneSearch, Tuning
from counterbc.selection.unimodality import two_peaks
from counterbc.settings import settings_for
from counterbc.supports import Demonstrated
from counterbc.training.checks import check_reads, warn_infeasible
from counterbc.training.progress import Bar, Progress, Quiet

_STRETCH = 20  # steps of a cluster where there are few episodes


def tune(
    demos: Demonstrations,
    method: str | Method = "counter-bc",
    *,
    search: TuneSearch | None = None,
    lag_search: LagSearch | None = None,
    preset: str = "default",
    device: str | torch.device | None = None,
    progress: bool | Progress = True,
    **changes: Any,
) -> Tuning:
    """Choose what `train` would choose, and return it with its evidence.

    `changes` are fields of `Settings`; a lag, radius, number of steps or ensemble given there is
    not searched.
    """
    (name, definition), settings = find_method(method), settings_for(preset, **changes)
    definition = settings.apply(definition, demos.obs_shape)
    check_reads(demos, definition)
    warn_infeasible([demos], settings)
    if progress is True:
        progress = Bar("tuning")
    training = Training(
        name=name, method=definition, settings=settings, device=find_device(device),
        progress=progress or Quiet(),
    )  # fmt: skip
    radii = None if settings.radius == "auto" else [settings.radius]
    return tune_datasets([demos], training, search, lag_search, radii=radii)[0][0]


def tune_datasets(
    datasets: Sequence[Demonstrations],
    training: Training,
    search: TuneSearch | None = None,
    lag_search: LagSearch | None = None,
    radii: Sequence[Radius] | None = None,
) -> list[list[Tuning]]:
    """Return a choice for each dataset, and within it for each of `radii`.

    `radii` are given radii that are all trained; None chooses one. The settings of the training say
    what else is given.
    """
    search, settings, size = search or TuneSearch(), training.settings, training.method.shards
    lags = find_lags(datasets, training, lag_search)
    fixed = isinstance(training.method.support, Demonstrated)
    tried: list[Radius] = list(radii if radii is not None else (0.0,) if fixed else search.radii)
    counts = search.step_counts if settings.steps == "auto" else (settings.step_count,)
    if len(counts) == 1 and (radii is not None or len(tried) == 1):
        return [[Tuning(lag, _plain(r), counts[0], size) for r in tried] for lag in lags]
    tuner = _Tuner(datasets, [c.lag for c in lags], search, training)
    tables = tuner.errors(tried, counts)
    groups = [[i] for i in range(len(tried))] if radii is not None else [[*range(len(tried))]]
    choices = [
        [_choose(table, [_plain(r) for r in tried], counts, group, lag) for group in groups]
        for table, lag in zip(tables, lags, strict=True)
    ]
    choices = [
        [replace(c, ensemble=size, protocol=tuner.protocol(d)) for c in row]
        for d, row in enumerate(choices)
    ]
    if settings.ensemble == "auto" and settings.steps == "auto" and training.method.shards == 1:
        return tuner.with_ensembles(choices)
    return choices


def _plain(radius: Radius) -> float | tuple[float, ...]:
    return tuple(map(float, radius)) if isinstance(radius, Sequence) else float(radius)


def find_lags(
    datasets: Sequence[Demonstrations], training: Training, search: LagSearch | None = None
) -> list[LagChoice]:
    """Return the lag of each dataset: the one in the settings, or a chosen one."""
    lag = training.settings.lag
    if lag == "auto":
        return choose_lags(datasets, training, search)
    return [LagChoice(lag_of(lag, d), "given", rate=d.rate) for d in datasets]


@dataclass(frozen=True, eq=False)
class _Table:
    """Squared errors (S, G, n) of step counts × radii on n actions."""

    squares: Array
    spread: Array
    cluster: Array
    several_modes: tuple[str, ...]
    """Action dimensions whose errors at the first radius have several peaks."""


class _Tuner:
    """Held-out errors of several candidates on several datasets, each with its lag."""

    def __init__(
        self,
        datasets: Sequence[Demonstrations],
        lags: Sequence[tuple[float, ...]],
        search: TuneSearch,
        training: Training,
    ) -> None:
        self.lags, self.search, self.training = lags, search, training
        self.datasets = [_sample(d, k, search) for d, k in zip(datasets, lags, strict=True)]
        self.clusters = [episode_clusters(d, _STRETCH) for d in self.datasets]
        self.folds = [split_folds(d, search.folds, search.seed) for d in self.datasets]

    def protocol(self, dataset: int) -> str:
        """Return how the errors of a dataset were measured."""
        folds, data = self.folds[dataset], self.datasets[dataset]
        kind = "whole episodes" if folds.kind == "episodes" else f"blocks, gap {folds.gap} steps"
        return f"{len(folds)} folds of {kind}, {data.pairs} pairs"

    def errors(self, radii: Sequence[Radius], counts: Sequence[int]) -> list[_Table]:
        """Return the errors of radii × step counts on each dataset."""
        candidates = [[Candidate(r, lag) for r in radii] for lag in self.lags]
        by_count = self._run(candidates, [[f] for f in self.folds], counts)
        return [
            self._table(d, np.stack([_squares(errors[d]) for errors in by_count]), by_count[-1][d])
            for d in range(len(self.datasets))
        ]

    def with_ensembles(self, choices: Sequence[Sequence[Tuning]]) -> list[list[Tuning]]:
        """Return the choices with one size of ensemble for all of them, the smallest as good."""
        sizes = self.search.ensembles
        candidates = [
            [Candidate(c.radius, lag) for c in row]
            for row, lag in zip(choices, self.lags, strict=True)
        ]
        counts = sorted({c.steps for row in choices for c in row})
        by_count = self._run(candidates, [[f] * sizes[-1] for f in self.folds], counts)
        errors: list[list[Array]] = []  # of each dataset and choice: (sizes, n)
        for d, row in enumerate(choices):
            residuals = [by_count[counts.index(c.steps)][d].residual for c in row]
            errors.append([_by_size(r[:, g], sizes) for g, r in enumerate(residuals)])
        gains = [
            [cluster_mean(*_finite(e[0] - e[-1], self.clusters[d])) for e in row]
            for d, row in enumerate(errors)
        ]
        size = sizes[-1 if _pays([g for row in gains for g in row]) else 0]
        return [
            [replace(c, ensemble=size, ensemble_gain=g) for c, g in zip(row, gain, strict=True)]
            for row, gain in zip(choices, gains, strict=True)
        ]

    def _run(
        self,
        candidates: Sequence[Sequence[Candidate]],
        folds: Sequence[Sequence[Folds]],
        counts: Sequence[int],
    ) -> list[list[HeldOutErrors]]:
        settings = replace(
            self.training.settings, radius=0.0, steps=max(counts), held_out=0.0, ensemble=1
        )
        training = replace(self.training, settings=settings)
        return held_out_errors(self.datasets, folds, candidates, training, counts)

    def _table(self, d: int, squares: Array, errors: HeldOutErrors) -> _Table:
        data = self.datasets[d]
        action = unit_actions(data, data.action[data.learned])
        spread = ((action - action.mean(0)) ** 2).sum(-1)
        known = ~np.isnan(squares).any((0, 1))
        if not known.any():
            raise CounterBCError("every policy diverged in the search; lower the learning rate")
        cluster = np.unique(self.clusters[d][known], return_inverse=True)[1]
        peaks = two_peaks(errors.residual[0, 0][known])
        names = tuple(data.action_names[i] for i in peaks)
        return _Table(squares[:, :, known], spread[known], cluster, names)


def _sample(demos: Demonstrations, lag: tuple[float, ...], search: TuneSearch) -> Demonstrations:
    """Return at most as many pairs as the search uses; actions that a lag needs stay together."""
    if (demos.action[demos.learned] == demos.action[demos.learned[0]]).all():
        raise DataError(
            f"all {demos.pairs} actions are the same, so there is nothing to choose; check the "
            "data, or give the radius and the number of steps yourself"
        )
    if demos.pairs <= search.pairs:
        return demos
    if all(k == int(k) for k in lag):
        return demos.sample_pairs(search.pairs, search.seed)
    states = lagged_pairs(demos, demos.learned, lag)
    chosen = np.random.default_rng(search.seed).choice(states, search.pairs, replace=False)
    whole = np.floor(max(lag)).astype(int)
    actions = np.union1d(chosen + whole, chosen + whole + 1)
    return replace(demos, selected=np.intersect1d(actions, demos.learned))


def _squares(errors: HeldOutErrors) -> Array:
    """Return the squared error of each action, summed over dimensions: (G, n)."""
    return np.asarray((errors.residual**2 + errors.variance).sum(-1).mean(0))


def _by_size(residual: Array, sizes: Sequence[int]) -> Array:
    """Return the squared error of ensembles of each size from residuals (R, n, A): (sizes, n)."""
    rows = []
    for size in sizes:
        groups = residual[: len(residual) // size * size].reshape(-1, size, *residual.shape[1:])
        rows.append((groups.mean(1) ** 2).sum(-1).mean(0))
    return np.stack(rows)


def _finite(values: Array, cluster: Array) -> tuple[Array, Array]:
    finite = np.isfinite(values)
    return values[finite], np.unique(cluster[finite], return_inverse=True)[1]


def _pays(gains: Sequence[Estimate]) -> bool:
    """Return whether the mean of several gains is above its standard error."""
    gain = float(np.mean([g.value for g in gains]))
    return gain > float(np.sqrt(np.sum([g.se**2 for g in gains])) / len(gains))


def _choose(
    table: _Table,
    radii: Sequence[float | tuple[float, ...]],
    counts: Sequence[int],
    group: Sequence[int],
    lag: LagChoice,
) -> Tuning:
    """Return the smallest radius within one standard error of the best, with its best steps."""
    squares = table.squares[:, group]  # (S, G, n)
    means = squares.mean(-1)
    best = np.unravel_index(np.argmin(means), means.shape)

    def as_good(s: int, g: int) -> bool:
        above = cluster_mean(squares[s, g] - squares[best], table.cluster)
        return above.value <= above.se

    rank = np.argsort([np.max(radii[i]) for i in group], kind="stable").tolist()
    g = next(g for g in rank if any(as_good(s, g) for s in range(len(counts))))
    s = int(np.argmin(means[:, g]))
    trials = tuple(
        Trial(
            float(np.max(radii[group[j]])), counts[i],
            cluster_mean(squares[i, j], table.cluster),
            cluster_mean(squares[i, j] - squares[s, g], table.cluster),
        )
        for j in range(len(group)) for i in range(len(counts))
    )  # fmt: skip
    share = explained_share(squares[s, g], table.spread, table.cluster)
    radius = radii[group[g]]
    doubts = tuple(_doubts(table, radius, [radii[i] for i in group], counts[-1]))
    return Tuning(lag, radius, counts[s], trials=trials, explained=share, doubts=doubts)


def _doubts(
    table: _Table,
    radius: float | tuple[float, ...],
    radii: Sequence[float | tuple[float, ...]],
    steps: int,
) -> Iterator[Doubt]:
    if table.several_modes and steps >= LEAST_STEPS:
        yield several_modes(table.several_modes)
    if len(radii) > 1 and radius == radii[-1]:
        yield largest_is_best(float(np.max(radius)))
