"""Held-out errors of Δ × steps, and of ensembles, that `tune` chooses by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterbc.data.action_scale import scaled_actions
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import answers, lagged_pairs
from counterbc.data.radii import Radius
from counterbc.errors import CounterBCError, DataError
from counterbc.selection.clusters import Estimate, cluster_mean, episode_clusters
from counterbc.selection.ensembles import by_size, smallest_as_good
from counterbc.selection.folds import Folds, split_folds
from counterbc.selection.held_out import Candidate, HeldOutErrors, Training, held_out_errors
from counterbc.selection.shares import Share
from counterbc.selection.tuning import TuneSearch, Tuning
from counterbc.selection.unimodality import two_peaks

_STRETCH = 20  # steps of a cluster where there are few episodes


@dataclass(frozen=True, eq=False)
class ErrorTable:
    """Squared errors (S, G, n) of step counts × radii on n actions."""

    squares: Array
    spread: Array
    """(n, A): squared distance of each action from the mean action."""
    cluster: Array
    fold: Array
    """(n,): the fold that held out each action."""
    several_modes: tuple[str, ...]
    """Action dimensions whose errors at the first radius have several peaks."""
    residual: Array
    """(n, A): errors of the first radius after the number of steps that suits it best."""

    @property
    def per_dimension(self) -> tuple[Share, ...]:
        """The share of each action dimension's variance that policies with the first radius
        explain, in the pairs at which they did not diverge."""
        rows = np.isfinite(self.residual).all(1)
        dimensions = zip(self.residual[rows].T ** 2, self.spread[rows].T, strict=True)
        return tuple(Share.of(error, spread, self.cluster[rows]) for error, spread in dimensions)


class TuningErrors:
    """Measures held-out errors of candidates on several datasets, each with its lag."""

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
        self.later = training.later
        """Work that comes after the tables, as a number of states."""

    def work(self, members: int, steps: float) -> float:
        """Return how many states this many members of every fold learn from in their steps."""
        settings, method = self.training.settings, self.training.method
        batches = (len(f) * settings.batch_size(min(map(len, f.learned))) for f in self.folds)
        return members * steps * method.shards * method.rounds * sum(batches)

    def protocol(self, dataset: int) -> str:
        """Return how the errors of a dataset were measured."""
        folds, data = self.folds[dataset], self.datasets[dataset]
        gap = f"{folds.gap} step" if folds.gap == 1 else f"{folds.gap} steps"
        kind = "whole episodes" if folds.kind == "episodes" else f"blocks, gap {gap}"
        return f"{len(folds)} folds of {kind}, {data.pairs} pairs"

    def tables(self, radii: Sequence[Sequence[Radius]], counts: Sequence[int]) -> list[ErrorTable]:
        """Return the errors of each dataset's radii × step counts."""
        candidates = [
            [Candidate(r, lag) for r in row] for row, lag in zip(radii, self.lags, strict=True)
        ]
        by_count = self._run(candidates, [[f] for f in self.folds], counts, self.later)
        return [
            self._table(d, [errors[d] for errors in by_count]) for d in range(len(self.datasets))
        ]

    def with_ensembles(self, choices: Sequence[Sequence[Tuning]]) -> list[list[Tuning]]:
        """Return the choices with the smallest ensemble that is as good as the best, one size for
        all choices of a dataset."""
        sizes = self.search.ensembles
        if len(sizes) == 1:
            return [[replace(c, ensemble=sizes[0]) for c in row] for row in choices]
        candidates = [
            [Candidate(c.radius, lag) for c in row]
            for row, lag in zip(choices, self.lags, strict=True)
        ]
        counts = sorted({c.steps for row in choices for c in row})
        folds = [[f] * sizes[-1] for f in self.folds]
        by_count = self._run(candidates, folds, counts, self.training.later)
        errors: list[list[Array]] = []  # of each dataset and choice: (1 + sizes, n)
        for d, row in enumerate(choices):
            residuals = [by_count[counts.index(c.steps)][d].residual for c in row]
            errors.append([by_size(r[:, g], (1, *sizes)) for g, r in enumerate(residuals)])

        def gains(dataset: int, small: int, large: int) -> list[Estimate]:
            differences = [e[small] - e[large] for e in errors[dataset]]
            return [cluster_mean(*_finite(x, self.clusters[dataset])) for x in differences]

        def best_size(dataset: int) -> int:
            return smallest_as_good(sizes, lambda i, j: gains(dataset, i + 1, j + 1))

        return [
            [
                replace(c, ensemble=best_size(d), ensemble_gain=g)
                for c, g in zip(row, gains(d, 0, -1), strict=True)
            ]
            for d, row in enumerate(choices)
        ]

    def squares_of_average(
        self, d: int, radii: Sequence[Radius], counts: Sequence[int], networks: int
    ) -> Array:
        """Return the squared errors of the average of several networks: (S, G, n)."""
        candidates = [Candidate(r, self.lags[d]) for r in radii]
        by_count = held_out_errors(
            [self.datasets[d]], [[self.folds[d]] * networks], [candidates],
            self._training(counts), counts,
        )  # fmt: skip
        return np.stack([
            [by_size(row[0].residual[:, g], (networks,))[0] for g in range(len(radii))]
            for row in by_count
        ])  # fmt: skip

    def _run(
        self,
        candidates: Sequence[Sequence[Candidate]],
        folds: Sequence[Sequence[Folds]],
        counts: Sequence[int],
        later: float,
    ) -> list[list[HeldOutErrors]]:
        training = replace(self._training(counts), later=later)
        return held_out_errors(self.datasets, folds, candidates, training, counts)

    def _training(self, counts: Sequence[int]) -> Training:
        settings = replace(
            self.training.settings, radius=0.0, steps=max(counts), held_out=0.0, ensemble=1
        )
        return replace(self.training, settings=settings)

    def _table(self, d: int, by_count: Sequence[HeldOutErrors]) -> ErrorTable:
        data, squares = self.datasets[d], np.stack([_squares(errors) for errors in by_count])
        action = scaled_actions(data, data.action[data.learned])
        spread = (action - action.mean(0)) ** 2
        known = np.isfinite(squares).any((0, 1))  # a lag may reach back before an episode
        finite = np.isfinite(squares)
        if not finite.any():
            raise CounterBCError("every policy diverged in the search; lower the learning rate")
        squares = np.where(finite, squares, np.inf)  # a policy diverged, so its candidate loses
        if not finite[:, :, known].all(-1).any():  # each did in some fold: compare in the others
            known &= finite.reshape(-1, finite.shape[-1])[finite.sum(-1).argmax()]
        cluster = np.unique(self.clusters[d][known], return_inverse=True)[1]
        last, best = (by_count[s].residual[0, 0][known] for s in (-1, _best_steps(squares, known)))
        peaks = two_peaks(last) if np.isfinite(last).all() else ()
        names = tuple(data.action_names[i] for i in peaks)
        fold = by_count[0].fold[0][known]
        return ErrorTable(squares[:, :, known], spread[known], cluster, fold, names, best)


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
    count = min(search.pairs, len(states))
    chosen = np.random.default_rng(search.seed).choice(states, count, replace=False)
    return replace(demos, selected=answers(demos, chosen, lag))


def _best_steps(squares: Array, known: Array) -> int:
    """Return the index of the step count that suits the first radius best."""
    return int(squares[:, 0][:, known].mean(-1).argmin())


def _squares(errors: HeldOutErrors) -> Array:
    """Return the squared error of each action, summed over dimensions: (G, n)."""
    return np.asarray((errors.residual**2 + errors.variance).sum(-1).mean(0))


def _finite(values: Array, cluster: Array) -> tuple[Array, Array]:
    finite = np.isfinite(values)
    return values[finite], np.unique(cluster[finite], return_inverse=True)[1]
