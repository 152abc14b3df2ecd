"""tune(): choose lag, offsets, Δ, number of steps and size of an ensemble from the data.

Everything is chosen by the error of held-out actions, coarse to fine: the lag by kernel regression;
the offsets of operators; then Δ × steps, whose snapshots come from one training; then the size of
an ensemble. Every method is tuned by the same search; for BC only Δ is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import torch

from counterbc.acting.device import find_device
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import lag_of
from counterbc.data.offsets import remove_offsets
from counterbc.data.radii import Radius, radius_of
from counterbc.errors import OptionError
from counterbc.methods import METHODS, Method, find_method, without_counterfactuals
from counterbc.policies import POLICIES
from counterbc.selection.clusters import cluster_mean
from counterbc.selection.doubts import (
    LEAST_STEPS,
    Doubt,
    few_steps,
    largest_is_best,
    most_steps_are_best,
    one_episode,
    reads_history,
    several_modes,
)
from counterbc.selection.explained import explain_quickly, with_policies
from counterbc.selection.held_out import Training
from counterbc.selection.lag import choose_lags
from counterbc.selection.lag_choice import LagChoice
from counterbc.selection.lag_errors import LagSearch
from counterbc.selection.noise_scale import noise_scale
from counterbc.selection.offsets import find_offsets
from counterbc.selection.shares import Share
from counterbc.selection.tuning import Trial, TuneSearch, Tuning
from counterbc.selection.tuning_errors import ErrorTable, TuningErrors
from counterbc.settings import Settings, settings_for
from counterbc.supports import Demonstrated, Support
from counterbc.training.checks import check_reads, warn_infeasible
from counterbc.training.progress import Bar, Progress, Quiet

Radii = Sequence[float | tuple[float, ...]]
"""Radii to choose among, each for all action dimensions or one per dimension."""


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

    `changes` are fields of `Settings`; a lag, offsets, a radius, a number of steps or an ensemble
    given there is not searched.
    """
    (name, definition), settings = find_method(method), settings_for(preset, **changes)
    definition = settings.apply(definition, demos.obs_shape, demos.pairs, image=demos.image)
    settings, definition = policy_defaults(settings, definition, demos.pairs)
    check_reads(demos, definition)
    warn_infeasible([demos], settings)
    if progress is True:
        progress = Bar("tuning")
    training = Training(
        name=name, method=definition, settings=settings, device=find_device(device),
        progress=progress or Quiet(),
    )  # fmt: skip
    radii = None if settings.radius == "auto" else [settings.radius]
    choice = tune_datasets([demos], training, search, lag_search, radii=radii)[0][0]
    if choice.explained is None:
        return choice
    each = choice.per_dimension if demos.action_size > 1 else (choice.explained,)
    history = definition.policy.history
    quick = explain_quickly(remove_offsets(demos, choice.offsets.offsets), choice.lag.lag)
    shares = with_policies(quick, choice.explained, each, history)
    return replace(choice, shares=shares)


def policy_defaults(
    settings: Settings, method: Method, pairs: int, radii: Sequence[Radius] | None = None
) -> tuple[Settings, Method]:
    """Return settings and method with what a large policy fixes instead of choosing it.

    It is trained once, for a number of steps that suits the pairs. Without a given radius it has no
    counterfactuals.
    """
    policy = method.policy
    steps = policy.steps_for(pairs)
    if steps is None:
        return settings, method
    if method.shards > 1 and not policy.has_density:
        raise OptionError(
            f"{method.shards} networks act by their average, but actions that a "
            f"{type(policy).__name__} samples cannot be averaged; leave ensemble out, or choose "
            "the policy chunk"
        )
    if radii is None and settings.radius == "auto":
        settings, method = replace(settings, radius=0.0), without_counterfactuals(method)
    fixed = replace(
        settings,
        steps=steps if settings.steps == "auto" else settings.steps,
        ensemble=1 if settings.ensemble == "auto" else settings.ensemble,
    )
    return fixed, method


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
    search, settings = search or TuneSearch(), training.settings
    lags = find_lags(datasets, training, lag_search)
    offsets = find_offsets(datasets, [c.lag for c in lags], settings.offsets)
    counts = search.step_counts if settings.steps == "auto" else (settings.step_count,)
    groups = _radius_groups(training, search, radii)
    starts = [
        Tuning(
            lag, 0.0, counts[0], training.method.shards, offsets=c, no_radius=_no_radius(training)
        )
        for lag, c in zip(lags, offsets, strict=True)
    ]
    if len(counts) == 1 and max(map(len, groups)) == 1:
        return [[replace(start, radius=radius) for (radius,) in groups] for start in starts]
    plain = [remove_offsets(d, c.offsets) for d, c in zip(datasets, offsets, strict=True)]
    errors = TuningErrors(plain, [c.lag for c in lags], search, training)
    starts = [replace(start, protocol=errors.protocol(d)) for d, start in enumerate(starts)]
    has_ensembles = settings.ensemble == "auto" == settings.steps and training.method.shards == 1
    if has_ensembles:
        errors.later += errors.work(len(groups) * search.ensembles[-1], counts[-1] / 2)
    rows = radius_rows(errors, search, counts, radii)
    tables = errors.tables([[*chain(*row)] for row in rows], counts)
    choices = [
        [_choose(start, part, group, counts) for part, group in _parts(table, row)]
        for start, table, row in zip(starts, tables, rows, strict=True)
    ]
    lone = [(one_episode(),) if len(d.episodes) == 1 else () for d in datasets]
    choices = [
        [replace(c, doubts=doubts + c.doubts) for c in row]
        for row, doubts in zip(choices, lone, strict=True)
    ]
    if has_ensembles:
        return errors.with_ensembles(choices)
    return choices


def radius_rows(
    errors: TuningErrors,
    search: TuneSearch,
    counts: Sequence[int],
    radii: Sequence[Radius] | None = None,
) -> list[list[Radii]]:
    """Return, for each dataset, the groups of radii within which one is chosen."""
    method = errors.training.method
    if radii is None and method.weighting.noise_model:
        return _noise_groups(errors, method.support, counts)
    return [_radius_groups(errors.training, search, radii)] * len(errors.datasets)


def _radius_groups(
    training: Training, search: TuneSearch, radii: Sequence[Radius] | None
) -> list[Radii]:
    """Return the radii to choose among, once for each choice: given radii are not compared."""
    if radii is not None:
        return [[_plain(radius)] for radius in radii]
    return [[0.0] if isinstance(training.method.support, Demonstrated) else search.radii]


def _plain(radius: Radius) -> float | tuple[float, ...]:
    return tuple(map(float, radius)) if isinstance(radius, Sequence) else float(radius)


def _no_radius(training: Training) -> str:
    """Return why a method has no radius; empty where it has one."""
    if not isinstance(training.method.support, Demonstrated):
        return ""
    policy = training.settings.policy
    has_radius = training.name in METHODS and METHODS[training.name].support != Demonstrated()
    if has_radius and policy is not None and POLICIES[policy].steps is not None:
        return f"The policy {policy} learns the shown actions alone unless a radius is given"
    return f"The method {training.name} has no radius"


def _noise_groups(errors: TuningErrors, noise: Support, counts: Sequence[int]) -> list[list[Radii]]:
    """Return the radii to compare on each dataset: none, and the scale of its noise.

    The scale comes from the residuals of held-out policies that were trained without noise.
    """
    next_table = errors.work(2, counts[-1])
    errors.later += next_table
    tables = errors.tables([[0.0]] * len(errors.datasets), counts)
    errors.later -= next_table
    return [[[0.0, tuple(noise_scale(t.residual, noise).tolist())]] for t in tables]


def _parts(table: ErrorTable, groups: Sequence[Radii]) -> Iterator[tuple[ErrorTable, Radii]]:
    """Yield each group of radii with its columns of the table."""
    begin = 0
    for group in groups:
        end = begin + len(group)
        yield replace(table, squares=table.squares[:, begin:end]), group
        begin = end


def find_lags(
    datasets: Sequence[Demonstrations], training: Training, search: LagSearch | None = None
) -> list[LagChoice]:
    """Return the lag of each dataset: the one in the settings, or a chosen one."""
    lag, radius = training.settings.lag, training.settings.radius
    if not isinstance(radius, str):
        radius_of(radius, datasets)  # or refuse the number of radii, before anything is searched
    if lag == "auto":
        return choose_lags(datasets, training, search)
    return [LagChoice(lag_of(lag, d), "given", rate=d.rate) for d in datasets]


def _choose(start: Tuning, table: ErrorTable, radii: Radii, counts: Sequence[int]) -> Tuning:
    """Return the choice among step counts × radii, with its evidence."""
    squares = table.squares  # (S, G, n)
    means = squares.mean(-1)
    s, g = choose_cell(squares, table.cluster, radii)
    trials = tuple(
        Trial(
            float(np.max(radii[j])), counts[i],
            cluster_mean(squares[i, j], table.cluster),
            cluster_mean(squares[i, j] - squares[s, g], table.cluster),
        )
        for j in range(len(radii)) for i in range(len(counts)) if np.isfinite(means[i, j])
    )  # fmt: skip
    is_noiseless = len(radii) > 1 and not any(np.any(radius) for radius in radii)
    return replace(
        start,
        radius=radii[g],
        steps=counts[s],
        trials=trials,
        explained=Share.of(squares[s, g], table.spread.sum(1), table.cluster),
        per_dimension=table.per_dimension,
        doubts=tuple(_doubts(start.lag, table, radii, g, counts, s)),
        no_radius="No noise of this shape was found: Δ 0" if is_noiseless else start.no_radius,
    )


def choose_cell(squares: Array, cluster: Array, radii: Radii) -> tuple[int, int]:
    """Return the smallest radius within one standard error of the best, with its best steps.

    Both are indices into the squared errors (S, G, n) of step counts × radii.
    """
    means = squares.mean(-1)
    best = np.unravel_index(np.argmin(means), means.shape)

    def as_good(s: int, g: int) -> bool:
        above = cluster_mean(squares[s, g] - squares[best], cluster)
        return above.value <= above.se

    rank = np.argsort([np.max(radius) for radius in radii], kind="stable").tolist()
    g = next(g for g in rank if any(as_good(s, g) for s in range(len(squares))))
    return int(np.argmin(means[:, g])), g


def _doubts(
    lag: LagChoice, table: ErrorTable, radii: Radii, g: int, counts: Sequence[int], s: int
) -> Iterator[Doubt]:
    """Yield the doubts about the radius g and the number of steps s."""
    radius = radii[g]
    is_brief, is_searched = counts[-1] < LEAST_STEPS, len(radii) > 1
    if is_brief and is_searched:
        yield few_steps(counts[-1])
    if table.several_modes and not is_brief:
        yield several_modes(table.several_modes)
    if is_searched and not is_brief and radius == radii[-1] and not isinstance(radius, tuple):
        yield largest_is_best(radius)
    if len(counts) > 1 and s == len(counts) - 1:
        yield most_steps_are_best(counts[s])
    if lag.history_error:
        yield reads_history()
