"""compare_methods(): which method predicts held-out actions best, each tuned by the same search.

Δ and the number of steps are chosen on all folds but one and measured on that one, so that a method
with more to choose is not flattered. All methods share lag, offsets, folds, and the number of
networks whose average predicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import torch

from counterbc.acting.device import find_device
from counterbc.acting.intervals import holm
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.needs import check_needs
from counterbc.data.offsets import remove_offsets
from counterbc.errors import OptionError
from counterbc.methods import find_method
from counterbc.selection.clusters import Estimate, cluster_mean
from counterbc.selection.explained import explain_if_possible, with_policies
from counterbc.selection.held_out import Training
from counterbc.selection.lag_errors import LagSearch
from counterbc.selection.method_cost import searched_radii, seconds_per_state
from counterbc.selection.offsets import find_offsets
from counterbc.selection.shares import Explained, Share
from counterbc.selection.tuner import Radii, choose_cell, find_lags, policy_defaults, radius_rows
from counterbc.selection.tuning import TuneSearch
from counterbc.selection.tuning_errors import ErrorTable, TuningErrors
from counterbc.settings import settings_for
from counterbc.training.checks import check_reads
from counterbc.training.progress import Bar, Progress, Quiet
from counterbc.training.session import current_session

USUAL = ("bc", "counter-bc", "posterior", "epsilon-insensitive")
"""The methods that are compared by default; any data will do for them."""
_LEVEL = 0.05
_NETWORKS = 4
_ROUNDING = 1e-4  # of the error


@dataclass(frozen=True)
class ComparedMethod:
    """One method with its held-out error."""

    name: str
    error: Estimate
    """Held-out squared error, summed over action dimensions that span [−1, 1]."""
    below: Estimate
    """How far its error is below plain BC's, action by action."""
    p: float
    """Of the hypothesis that it predicts as plain BC does, after Holm's correction."""
    radius: float | tuple[float, ...]
    """Chosen on all folds, like the steps."""
    steps: int

    @property
    def is_clearly_better(self) -> bool:
        """Whether its held-out error is clearly below plain BC's."""
        return self.below.value > 0 and self.p < _LEVEL


@dataclass(frozen=True)
class Comparison:
    """Held-out errors of several methods on the same actions; the first one is plain BC."""

    methods: tuple[ComparedMethod, ...]
    explained: Share
    """Share of the actions' variance that plain BC explains."""
    lag: tuple[float, ...]
    networks: int
    """How many networks each prediction averages."""
    protocol: str
    shares: Explained | None = None
    """The same with what past actions and observations explain; None for too few data."""

    @property
    def tells(self) -> bool:
        """Whether held-out errors can tell methods apart: policies explain enough, and do more
        than repeat the previous action."""
        return self.explained.is_enough if self.shares is None else self.shares.tells

    @property
    def recommended(self) -> str:
        """The method to use: the best of those that are clearly better than plain BC, or BC."""
        clear = [m for m in self.methods if m.is_clearly_better and self.tells]
        return min(clear, key=lambda m: m.error.value).name if clear else "bc"

    @property
    def verdict(self) -> str:
        """Which method to use, in a sentence."""
        if not (self.tells and self.methods[1:]):
            return self.finding
        if self.recommended != "bc":
            return f"Use {self.recommended}: its held-out error is {self._below}"
        return f"{self.finding}; use BC"

    @property
    def _below(self) -> str:
        """How far the error of the recommended method is below plain BC's, in words."""
        best = next(m for m in self.methods if m.name == self.recommended)
        return f"{self.percent(best)} below plain BC's (p = {best.p:.2g})"

    @property
    def finding(self) -> str:
        """What the held-out errors say, in a sentence without a recommendation."""
        if not self.explained.is_enough:
            return (
                f"Cannot tell: plain BC explains {self.explained} of the held-out actions, so no "
                "comparison means anything; read other observations, or record more"
            )
        if self.shares is not None and not self.tells:
            return self.shares.refusal
        if not self.methods[1:]:
            return "Nothing was compared with plain BC"
        if self.recommended != "bc":
            return f"The held-out error of {self.recommended} is {self._below}"
        best = min(self.methods[1:], key=lambda m: m.error.value)
        if best.below.value <= 0:
            return "No method predicts held-out actions better than plain BC"
        return (
            "No method predicts held-out actions clearly better than plain BC (the best, "
            f"{best.name}: {self.percent(best)} lower error)"
        )

    def percent(self, method: ComparedMethod) -> str:
        """Return how far a method's error is below plain BC's, in per cent of BC's."""
        unit = 100 / self.methods[0].error.value
        value = round(unit * method.below.value, 1) + 0  # never -0.0
        return f"{value:.1f} ± {unit * method.below.se:.1f} %"


def compare_methods(
    demos: Demonstrations,
    methods: Sequence[str] = USUAL,
    *,
    search: TuneSearch | None = None,
    lag_search: LagSearch | None = None,
    networks: int = _NETWORKS,
    preset: str = "default",
    device: str | torch.device | None = None,
    progress: bool | Progress = True,
    **changes: Any,
) -> Comparison:
    """Compare methods of `METHODS` with plain BC by the error of held-out actions.

    `changes` are fields of `Settings`; a lag, offsets, a radius or a number of steps given there is
    not searched. Methods that average networks already, such as bcnd, are not averaged again.
    """
    if networks < 1:
        raise OptionError(f"networks is {networks}; average 1 or more")
    search, torch_device = search or TuneSearch(), find_device(device)
    trainings = []
    for name in dict.fromkeys(("bc", *methods)):
        _, method = find_method(name)
        settings = settings_for(preset, **changes)
        method = settings.apply(method, demos.obs_shape, demos.pairs, image=demos.image)
        settings, method = policy_defaults(settings, method, demos.pairs)
        check_needs([demos], method.weighting.needs)
        check_reads(demos, method)
        bar = Bar(f"comparing {name}") if progress is True else progress or Quiet()
        training = Training(
            name=name, method=method, settings=settings, device=torch_device, progress=bar
        )  # fmt: skip
        trainings.append(training)
    (lag,) = find_lags([demos], trainings[0], lag_search)
    (offsets,) = find_offsets([demos], [lag.lag], trainings[0].settings.offsets)
    data = remove_offsets(demos, offsets.offsets)
    errors = [TuningErrors([data], [lag.lag], search, t) for t in trainings]
    seconds = [seconds_per_state(e) for e in errors] if len(errors) > 1 else [1.0]
    work = [_work(e, networks) * s for e, s in zip(errors, seconds, strict=True)]
    results = []
    for i, e in enumerate(errors):
        current_session().timed = 0.0 if demos.image or len(errors) == 1 else seconds[i]
        e.training = replace(e.training, later=sum(work[i + 1 :]) / seconds[i])  # in its states
        e.later = e.training.later + e.work(networks, _counts(e)[-1] / 2)
        results.append(_measure(e, networks))
    plain, table = results[0].squares, results[0].table
    differences = [cluster_mean(plain - r.squares, table.cluster) for r in results]
    clusters = int(table.cluster.max()) + 1
    share = Share.of(plain, table.spread.sum(1), table.cluster)
    p = [1.0, *holm([_p_value(d, clusters, float(plain.mean())) for d in differences[1:]])]
    return Comparison(
        tuple(
            ComparedMethod(
                t.name, cluster_mean(r.squares, table.cluster), d, float(p), r.radius, r.steps
            )
            for t, r, d, p in zip(trainings, results, differences, p, strict=True)
        ),
        share, lag.lag, networks, results[0].protocol,
        _with_past(data, lag.lag, share, table, trainings[0].method.policy.history),
    )  # fmt: skip


def _with_past(
    demos: Demonstrations, lag: Sequence[float], share: Share, table: ErrorTable, history: int
) -> Explained | None:
    """Return the share that plain BC explains beside what past actions and observations explain."""
    quick = explain_if_possible(demos, lag)
    if quick is None:
        return None
    each = table.per_dimension if demos.action_size > 1 else (share,)
    return with_policies(quick, share, each, history)


@dataclass(frozen=True, eq=False)
class _Measured:
    squares: Array  # (n,)
    table: ErrorTable
    radius: float | tuple[float, ...]
    steps: int
    protocol: str


def _counts(errors: TuningErrors) -> tuple[int, ...]:
    """Return the numbers of steps that are compared."""
    settings = errors.training.settings
    return errors.search.step_counts if settings.steps == "auto" else (settings.step_count,)


def _work(errors: TuningErrors, networks: int) -> float:
    """Return about how many states the policies of a method learn from in all their steps."""
    steps = _counts(errors)[-1]
    return errors.work(len(searched_radii(errors)), steps) + errors.work(networks, steps / 2)


def _measure(errors: TuningErrors, networks: int) -> _Measured:
    """Return the squared error of each action, with Δ and steps chosen on the other folds."""
    settings, search, method = errors.training.settings, errors.search, errors.training.method
    counts, given = _counts(errors), None if settings.radius == "auto" else [settings.radius]
    radii = [*chain(*radius_rows(errors, search, counts, given)[0])]
    (table,) = errors.tables([radii], counts)
    cells = [choose_without_fold(table, radii, k) for k in range(int(table.fold.max()) + 1)]
    s, g = choose_cell(table.squares, table.cluster, radii)
    used = sorted({cell[0] for cell in cells}), sorted({cell[1] for cell in cells})
    averages = 1 if method.policy.modes else max(networks // method.shards, 1)
    squares = errors.squares_of_average(
        0, [radii[j] for j in used[1]], [counts[i] for i in used[0]], averages
    )
    squares = squares[:, :, np.isfinite(squares).all((0, 1))]
    row = np.array([used[0].index(cell[0]) for cell in cells])[table.fold]
    column = np.array([used[1].index(cell[1]) for cell in cells])[table.fold]
    errors_of_choice = squares[row, column, np.arange(len(table.fold))]
    return _Measured(errors_of_choice, table, radii[g], counts[s], errors.protocol(0))


def choose_without_fold(table: ErrorTable, radii: Radii, fold: int) -> tuple[int, int]:
    """Return the cell that the errors of the other folds choose."""
    others = table.fold != fold
    cluster = np.unique(table.cluster[others], return_inverse=True)[1]
    return choose_cell(table.squares[:, :, others], cluster, radii)


def _p_value(difference: Estimate, clusters: int, error: float) -> float:
    """Return the p-value of a two-sided t-test that the difference is 0; rounding is none."""
    from scipy import stats

    if not (difference.se > 0 and abs(difference.value) > _ROUNDING * error):
        return 1.0
    return float(2 * stats.t.sf(abs(difference.value / difference.se), max(clusters - 1, 1)))
