"""Choose Δ by how well policies predict actions that they did not learn from.

    E|a − μ_Δ(s)|² = E|a − a*|² + E|a* − μ_Δ(s)|²        for held-out (s, a) with E[a|s] = a*

The first term does not depend on Δ. So the error against demonstrated actions ranks radii like the
error against the meant actions, which are unknown.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from counterbc.acting.device import find_device
from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.data.field_checks import check_fields, field_from, limited_field
from counterbc.data.lags import NONE
from counterbc.errors import CounterBCError, DataError, OptionError
from counterbc.methods import Method, find_method
from counterbc.selection.doubts import (
    LEAST_STEPS,
    Doubt,
    few_steps,
    largest_is_best,
    nothing_predicted,
    several_modes,
    zero_is_best,
)
from counterbc.selection.error_curve import (
    best_radius,
    finite_mean,
    least_radius,
    mean_and_error,
    plateau,
    without_diverged,
)
from counterbc.selection.explained import explain_quickly, explain_sample, with_policies
from counterbc.selection.folds import Folds, split_folds
from counterbc.selection.held_out import Candidate, HeldOutErrors, Training, held_out_errors
from counterbc.selection.radius_choice import RadiusChoice
from counterbc.selection.shares import Explained
from counterbc.selection.unimodality import two_peaks
from counterbc.settings import settings_for
from counterbc.supports import Demonstrated
from counterbc.training.checks import check_reads, warn_infeasible
from counterbc.training.progress import Bar, Progress, Quiet

_STEPS, _USUAL_PAIRS = 3600, 400  # steps of a search with this number of pairs


class DoubtfulRadius(UserWarning):
    """Data for which no single radius is right."""


@dataclass(frozen=True)
class RadiusSearch:
    """How Δ is searched."""

    radii: tuple[float, ...] = limited_field(
        (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8),
        "0 and two or more above it, rising",
        lambda radii: len(radii) > 2 and radii[0] == 0 and all(a < b for a, b in pairwise(radii)),
    )
    """The radii tried, in units in which each action dimension spans [-1, 1]; from 0 on."""
    folds: int = field_from(2, 5)
    """Number of folds; policies trained on the other folds predict each."""
    repeats: int = field_from(1, 1)
    """Number of repetitions, each with other folds and initial weights."""
    steps: int | None = field_from(1, None)
    """Gradient steps of each policy, at most those of the training itself. By default 3600 · 400 /
    pairs, and never fewer than 3600: as batches grow with the pairs, few pairs cost no more; and
    as many as the training for a mixture, whose Gaussians come together late."""
    pairs: int = field_from(20, 2000)
    """Larger datasets are subsampled at random to this many pairs."""
    seed: int = 0
    """Seed of the random split into folds, and of the subsample."""

    def __post_init__(self) -> None:
        check_fields(self)

    def steps_for(self, pairs: int) -> int:
        """Return the gradient steps of each policy for this number of pairs."""
        return self.steps or max(_STEPS, _STEPS * _USUAL_PAIRS // pairs)


def choose_radius(
    demos: Demonstrations,
    method: str | Method = "counter-bc",
    *,
    search: RadiusSearch | None = None,
    preset: str = "default",
    device: str | torch.device | None = None,
    progress: bool = True,
    **changes: Any,
) -> RadiusChoice:
    """Cross-validate Δ; `changes` are fields of `Settings`, as the training will have them."""
    (name, definition), settings = find_method(method), settings_for(preset, **changes)
    torch_device = find_device(device)
    definition = settings.apply(definition, demos.obs_shape, image=demos.image)
    if isinstance(definition.support, Demonstrated):
        raise OptionError(f"method {name} has no counterfactuals, so it needs no radius; train it")
    check_reads(demos, definition)
    warn_infeasible([demos], settings)
    bar: Progress = Bar("choosing Δ") if progress else Quiet()
    training = Training(
        name=name, method=definition, settings=settings, device=torch_device, progress=bar
    )
    choice = search_radii([demos], search or RadiusSearch(), training)[0]
    present, each = choice.explained.present, choice.explained.per_dimension
    shares = with_policies(explain_quickly(demos), present, each, definition.policy.history)
    return choice.with_shares(shares)


def choose_radii(
    datasets: Sequence[Demonstrations],
    training: Training,
    search: RadiusSearch | None = None,
    lags: Sequence[tuple[float, ...]] | None = None,
) -> list[RadiusChoice]:
    """Return the radius of each dataset, and turn doubts about it into warnings."""
    choices = search_radii(datasets, search or RadiusSearch(), training, lags)
    for doubt in dict.fromkeys(d for c in choices for d in c.warnings):
        warnings.warn(doubt, DoubtfulRadius, stacklevel=3)
    return choices


def search_radii(
    datasets: Sequence[Demonstrations],
    search: RadiusSearch,
    training: Training,
    lags: Sequence[tuple[float, ...]] | None = None,
) -> list[RadiusChoice]:
    """Return the radius of each dataset, each with its lag, all of them from one population."""
    samples = [_sample(d, search) for d in datasets]
    folds = [
        [split_folds(d, search.folds, search.seed + r) for r in range(search.repeats)]
        for d in samples
    ]
    settings, is_mixture = training.settings, training.method.policy.modes > 0
    steps = settings.step_count
    if search.steps is not None or not is_mixture:
        steps = min(search.steps_for(max(d.pairs for d in samples)), steps)
    training = replace(training, settings=replace(settings, radius=0.0, steps=steps, held_out=0.0))
    lags = lags or [NONE] * len(samples)
    candidates = [[Candidate(r, lag) for r in search.radii] for lag in lags]
    (errors,) = held_out_errors(samples, folds, candidates, training)
    return [
        _choice(d, s, f[0], e, search, training)
        for d, s, f, e in zip(datasets, samples, folds, errors, strict=True)
    ]


def _sample(demos: Demonstrations, search: RadiusSearch) -> Demonstrations:
    action = demos.action[demos.learned]
    if len(action) > 1 and (action == action[0]).all():
        raise DataError(
            f"all {len(action)} actions are the same, so every radius predicts them; "
            "check the data, or give the radius yourself"
        )
    return demos.sample_pairs(search.pairs, search.seed) if demos.pairs > search.pairs else demos


def _choice(
    demos: Demonstrations,
    sample: Demonstrations,
    folds: Folds,
    errors: HeldOutErrors,
    search: RadiusSearch,
    training: Training,
) -> RadiusChoice:
    by_fold = without_diverged(errors.by_fold())  # (R, K, G, A)
    if not np.isfinite(by_fold).any():
        raise CounterBCError("every policy diverged while choosing Δ; lower the learning rate")
    total = by_fold.sum(-1)  # (R, K, G)
    error, error_se = mean_and_error(total)
    difference, difference_se = mean_and_error(total - total[:, :, :1])
    rule = least_radius if training.method.policy.modes > 0 else best_radius
    steps, least = training.settings.step_count, int(np.nanargmin(error))
    squares = finite_mean((errors.residual**2 + errors.variance)[:, least])  # (n, A)
    explained, spread = explain_sample(sample, squares)
    best = least_radius(search.radii, total)
    return RadiusChoice(
        radius=rule(search.radii, total),
        per_dimension=tuple(rule(search.radii, e) for e in np.moveaxis(by_fold, -1, 0)),
        radii=search.radii,
        error=_numbers(error),
        error_se=_numbers(error_se),
        difference=_numbers(difference),
        difference_se=_numbers(difference_se),
        plateau=plateau(search.radii, total),
        dimension_error=tuple(map(_numbers, np.moveaxis(by_fold.mean((0, 1)), -1, 0))),
        action_names=demos.action_names,
        folds=search.folds,
        folds_by=folds.kind,
        gap=folds.gap,
        repeats=search.repeats,
        steps=steps,
        pairs=demos.pairs,
        pairs_used=sample.pairs,
        doubts=tuple(_doubts(errors, explained, best, search, steps)),
        mean_action_error=round(spread, 8),
        explained=explained,
    )


def _numbers(values: Array) -> tuple[float, ...]:
    return tuple(round(float(v), 8) for v in values)


def _doubts(
    errors: HeldOutErrors, explained: Explained, best: float, search: RadiusSearch, steps: int
) -> Iterator[Doubt]:
    if steps < LEAST_STEPS:
        yield few_steps(steps)
        return
    residual = finite_mean(errors.residual[:, 0])  # (n, A) of Δ = 0
    peaks = two_peaks(residual[np.isfinite(residual).all(1)])
    if peaks:
        yield several_modes([explained.action_names[d] for d in peaks])
    if not explained.tells:
        yield nothing_predicted(explained)
        return
    if best == 0:
        yield zero_is_best()
    if best == search.radii[-1]:
        yield largest_is_best(best)
