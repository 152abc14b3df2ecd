"""Held-out policies: members trained on folds, and what they predict for pairs they never saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from counterbc.acting.actor import Acting
from counterbc.acting.member import Member
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.data.field_checks import check_fields, field_from, limited_field
from counterbc.data.lags import NONE, answered_states
from counterbc.data.radii import Radius, radius_of
from counterbc.errors import CounterBCError
from counterbc.methods import Method
from counterbc.policies import Policy
from counterbc.selection.error_curve import finite_mean
from counterbc.selection.folds import Folds, split_operators
from counterbc.selection.mixture_modes import ModeGroups
from counterbc.settings import Settings
from counterbc.training.plan import plan_training
from counterbc.training.progress import Progress
from counterbc.training.snapshots import run_snapshots

_CHUNK = 1 << 16  # pairs predicted at once


@dataclass(frozen=True)
class HeldOut:
    """How many held-out policies predict each pair, and how they are trained."""

    folds: int = field_from(2, 5)
    """Folds of operators or episodes; policies trained on the other folds predict each."""
    repeats: int = field_from(1, 4)
    """Number of repetitions to average over, each with other folds."""
    rounds: int = field_from(1, 3)
    """Rounds of training. Policies of the second and later rounds do not learn from episodes that
    were outliers in the round before; all rounds but the last take one repeat."""
    steps: int = field_from(1, 3000)
    """Gradient steps of each policy; fewer where the training itself has fewer."""
    seed: int = 0
    """Seed of the random split into folds."""
    history: int | Literal["auto"] = limited_field(
        1,
        "an integer of 1 or more, or auto",
        lambda count: count == "auto" or count >= 1,
    )
    """Number of observations that held-out policies read; auto reads 3 where the present one
    explains too little and past ones explain actions beyond the previous action. No other policy
    is trained with it."""

    trim: float = limited_field(0.0, "at least 0 and at most 0.5", lambda share: 0 <= share <= 0.5)
    """Share of the episodes that policies of the second and later rounds do not learn from: those
    with the largest distance in the round before. 0 leaves out outliers alone."""

    def __post_init__(self) -> None:
        check_fields(self)

    def split(self, demos: Demonstrations) -> list[Folds]:
        """Return the folds of each repeat: all pairs are held out, selected ones are learned."""
        return [split_operators(demos, self.folds, self.seed + r) for r in range(self.repeats)]


@dataclass(frozen=True, kw_only=True)
class Training:
    """How held-out policies are trained."""

    name: str
    method: Method
    """The method with the settings applied; its policy predicts single actions."""
    settings: Settings
    device: torch.device
    progress: Progress
    later: float = 0.0
    """Work that comes after this, as a number of states, for an estimate of the time left."""

    def __post_init__(self) -> None:
        one_step = replace(self.method, policy=self.method.policy.one_step())
        object.__setattr__(self, "method", one_step)


@dataclass(frozen=True)
class Candidate:
    """What is compared by its held-out error."""

    radius: Radius = 0.0
    lag: tuple[float, ...] = NONE
    """In steps: one for all operators, or one each."""


def train_held_out(
    datasets: Sequence[Demonstrations],
    folds: Sequence[Sequence[Folds]],
    candidates: Sequence[Sequence[Candidate]],
    training: Training,
    steps: Sequence[int] = (),
) -> list[list[list[list[Policies]]]]:
    """Train datasets × repeats × folds × candidates members as one population.

    `folds` are those of each dataset's repeats, `candidates` those of each dataset. Returns, for
    each of `steps` (by default the last), each dataset, repeat and fold, the policies of all
    candidates. Candidates share their seed, so that they are compared on the same initial weights,
    batches and draws.
    """
    members, lists = [], []
    for d, (data, repeats) in enumerate(zip(datasets, folds, strict=True)):
        name = data.fingerprint()
        values = [(radius_of(c.radius, [data]), c.lag) for c in candidates[d]]
        for repeat, split in enumerate(repeats):
            for k, pairs in enumerate(split.learned):
                seed = repeat * len(split) + k
                members += [Member(seed, radius, d, name, lag) for radius, lag in values]
                lists += [pairs] * len(values)
    plan = plan_training(
        datasets, training.method, training.settings, members, name=training.name, lists=lists
    )
    return [
        _nest(policies, folds, candidates)
        for policies in run_snapshots(
            plan, steps or [training.settings.step_count],
            device=training.device, progress=training.progress, later=training.later,
        )
    ]  # fmt: skip


def _nest(
    policies: Policies,
    folds: Sequence[Sequence[Folds]],
    candidates: Sequence[Sequence[Candidate]],
) -> list[list[list[Policies]]]:
    """Return the policies by dataset, repeat and fold."""
    begin, nested = 0, []
    for repeats, values in zip(folds, candidates, strict=True):
        rows = []
        for split in repeats:
            starts = [begin + k * len(values) for k in range(len(split))]
            rows.append([policies[i : i + len(values)] for i in starts])
            begin += len(split) * len(values)
        nested.append(rows)
    return nested


def held_out_predictions(
    demos: Demonstrations,
    held_out: HeldOut,
    radius: tuple[float, ...],
    training: Training,
    complete: bool = True,
) -> Array:
    """Return the mean action at every pair in the user's units: (repeats, N, A).

    NaN where a policy diverged. If `complete`, another repeat must predict the pair. Policies learn
    from the selected pairs and predict all of them.
    """
    whole, repeats = replace(demos, selected=None), held_out.split(demos)
    populations = train_held_out([whole], [repeats], [[Candidate(radius)]], training)[-1][0]
    means = np.full((len(repeats), len(whole.obs), demos.action_size), np.nan)
    for mean, split, policies in zip(means, repeats, populations, strict=True):
        for pairs, policy in zip(split.held_out, policies, strict=True):
            for chunk in np.array_split(pairs, range(_CHUNK, len(pairs), _CHUNK)):
                mean[chunk] = _act(policy, whole, chunk)[0][0].double().numpy()
    is_known = np.isfinite(means).any(0)
    if not (is_known.all() if complete else is_known.any()):
        raise CounterBCError(
            "the policies that predict some pairs diverged; lower the learning rate, or raise the "
            "number of repeats"
        )
    return means


@dataclass(frozen=True, eq=False)
class HeldOutErrors:
    """Errors of policies on pairs they did not learn from: R repeats, G candidates, n pairs."""

    residual: Array
    """(R, G, n, A): demonstrated minus predicted action, in units in which actions span [-1, 1];
    NaN where a lag reaches back before the episode's start."""
    fold: Array
    """(R, n): the fold that held out each pair."""
    variance: Array | float = 0.0
    """(R, G, n, A): the variance of a mixture's action; 0 for other policies, which are measured by
    their mean action."""

    def by_fold(self) -> Array:
        """Return the mean squared error of each fold: (R, K, G, A); NaN where a policy diverged."""
        count = int(self.fold.max()) + 1
        squares = self.residual**2 + self.variance
        return np.array([
            [finite_mean(square[:, fold == k], axis=1) for k in range(count)]
            for square, fold in zip(squares, self.fold, strict=True)
        ])  # fmt: skip


def held_out_errors(
    datasets: Sequence[Demonstrations],
    folds: Sequence[Sequence[Folds]],
    candidates: Sequence[Sequence[Candidate]],
    training: Training,
    steps: Sequence[int] = (),
) -> list[list[HeldOutErrors]]:
    """Return the errors after each of `steps` on each dataset; arguments as in `train_held_out`."""
    return [
        [errors_of(*values) for values in zip(datasets, folds, populations, strict=True)]
        for populations in train_held_out(datasets, folds, candidates, training, steps)
    ]


def errors_of(
    data: Demonstrations, repeats: Sequence[Folds], populations: Sequence[Sequence[Policies]]
) -> HeldOutErrors:
    """Return the errors of the policies of each repeat and fold on what the fold held out."""
    place = {pair: i for i, pair in enumerate(data.learned.tolist())}
    shape = (len(repeats), len(populations[0][0]), data.pairs, data.action_size)
    residual, variance = np.full(shape, np.nan), np.zeros(shape)
    fold = np.zeros((len(repeats), data.pairs), int)
    for r, (split, policies) in enumerate(zip(repeats, populations, strict=True)):
        for k, (pairs, population) in enumerate(zip(split.held_out, policies, strict=True)):
            at = [place[pair] for pair in pairs.tolist()]
            for begin, end in _same_lag(population):
                values = _residuals(population[begin:end], data, pairs)
                for target, value in zip((residual, variance), values, strict=True):
                    target[r, begin:end][:, at] = value
            fold[r, at] = k
    return HeldOutErrors(residual, fold, variance)


def _same_lag(policies: Policies) -> list[tuple[int, int]]:
    """Return the runs of neighbouring members that have the same lag, as (first, end)."""
    lags = [m.lag for m in policies.members]
    ends = [i for i in range(1, len(lags)) if lags[i] != lags[i - 1]]
    return list(zip([0, *ends], [*ends, len(lags)], strict=True))


def _act(policies: Policies, data: Demonstrations, pairs: Array) -> tuple[Tensor, Tensor]:
    """Return the mean actions in the user's units, (P, n, A), and what the policies read."""
    window, obs = policies.windows(data, pairs)
    return Acting(policies, range(len(pairs)), "mean", 0).predict(window, obs), window


def _residuals(policies: Policies, data: Demonstrations, pairs: Array) -> tuple[Array, Array]:
    """Return demonstrated minus predicted actions in the policies' units, and the variance of the
    predicted ones: (P, n, A) each.

    With a lag of k the action of step t is predicted from s_(t−k), by two states if k is a
    fraction; NaN before the start.
    """
    lag = policies.members[0].lag
    later, earlier, share = (x[pairs] for x in answered_states(data, lag))
    inside = earlier >= data.starts[pairs]
    values = _residuals_from(policies, data, pairs, np.where(inside, later, pairs))
    if share.any():
        early = _residuals_from(policies, data, pairs, np.where(inside, earlier, pairs))
        between = share[:, None]
        values = tuple((1 - between) * x + between * y for x, y in zip(values, early, strict=True))
    residual, variance = values
    return np.where(inside[:, None], residual, np.nan), variance


def _residuals_from(
    policies: Policies, data: Demonstrations, pairs: Array, states: Array
) -> tuple[Array, Array]:
    """Return the errors in predicting the actions of `pairs` from these states, and variances."""
    action, window = _act(policies, data, states)
    scales, policy = policies.scales, policies.policy
    demonstrated = torch.tensor(data.action[pairs]).expand_as(action)
    if policy.modes and policies.shards == 1:
        obs = policies.tensor(data.obs[states]).expand(len(policies), -1, -1)
        actions = scales.targets(demonstrated.unsqueeze(-2), obs)
        mean, variance = _mode_moments(policies, policy, window, actions)
        if policy.reach > 1:  # beyond the bound of a censored action there is no error
            mean = scales.targets(scales.restore_targets(mean, obs), obs)
    else:
        actions, mean = scales.action(demonstrated), scales.action(action)
        variance = torch.zeros_like(mean)
    return (actions - mean).double().numpy(), variance.double().numpy()


@torch.no_grad()
def _mode_moments(
    policies: Policies, policy: Policy, window: Tensor, actions: Tensor
) -> tuple[Tensor, Tensor]:
    """Return each member's mean and variance within the mode of the demonstrated action.

    Modes are those of the first member, whose radius is 0: if each member had its own, those that
    split the noise of one mode into many would come out best. (P, n, A) each.
    """
    obs = window if policy.history > 1 else window.squeeze(2)
    head = policy.head(policies.params, obs)
    values = [tuple(x[p] for x in head) for p in range(len(policies))]
    groups = ModeGroups.of(policy, values[0])
    moments = [groups.within(h, a) for h, a in zip(values, actions, strict=True)]
    means, variances = zip(*moments, strict=True)
    return torch.stack(means), torch.stack(variances)
