"""influence(): which episodes help, by training on many random halves of the data.

Each split k deals the E episodes into two halves. Two policies learn from one half each, from the
same initial weights, and R is what a policy gets: minus its error on episodes that it did not learn
from, or its return. If an episode i adds β_i wherever it is learned from, then

    R(first half) − R(second half) = Σ_i x_ki β_i + noise

with x_ki = 1 for episodes of the first half and −1 for the others. Least squares over all splits
gives β with its covariance (a linear datamodel: Ilyas et al. 2022). The effects are those of an
episode among half of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from counterbc.acting.actor import Acting
from counterbc.acting.device import find_device
from counterbc.acting.evaluation import check_environment, check_episodes, evaluate
from counterbc.acting.member import Member
from counterbc.acting.policies import Policies
from counterbc.data.action_scale import scaled_actions
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.obs_rows import obs_rows
from counterbc.data.radii import radius_of
from counterbc.diagnosis.influence_effects import Influence, least_squares
from counterbc.errors import CounterBCError, DataError, OptionError
from counterbc.methods import Method, find_method
from counterbc.selection.explained import explain_if_possible
from counterbc.selection.held_out import Training
from counterbc.selection.shares import Share
from counterbc.settings import Settings, settings_for
from counterbc.training.checks import as_datasets, check_reads, warn_infeasible
from counterbc.training.plan import plan_training
from counterbc.training.progress import Bar, Quiet
from counterbc.training.snapshots import run_snapshots

LEAST_EPISODES = 6
FIXED: dict[str, Any] = {"steps": 1000, "radius": 0.0, "lag": 0.0, "offsets": "none"}
"""How policies are trained unless settings are given."""
_SPLITS, _PER_EPISODE = 100, 2
_BLOCK = 1 << 18  # predictions at once


def influence(
    demos: Demonstrations,
    method: str = "bc",
    *,
    env: str | None = None,
    episodes: int = 10,
    judges: Sequence[str] = (),
    splits: int | None = None,
    seed: int = 0,
    preset: str = "default",
    device: str | torch.device | None = None,
    progress: bool = True,
    **changes: Any,
) -> Influence:
    """Measure what learning from each episode does to policies, by training on random halves.

    With `env`, a world or a gymnasium id, R is the mean return over `episodes` starts, the same for
    both halves of a split. Otherwise it is minus the error on episodes that a policy did not learn
    from: on all of them, or on those of the operators in `judges`. By default there are twice as
    many splits as episodes, 100 at least, of two policies each. `changes` are fields of
    `Settings`; by default policies take 1000 gradient steps with a radius of 0.
    """
    (demos,) = as_datasets(demos)
    torch_device = find_device(device)
    settings = settings_for(preset, **FIXED | changes)
    name, applied = _method(method, settings)
    count = max(_SPLITS, _PER_EPISODE * len(demos)) if splits is None else splits
    _check(demos, count, judges, env, episodes)
    warn_infeasible([demos], settings)
    check_reads(demos, applied)
    first = random_halves(len(demos), count, seed)  # (K, E)
    learns = np.stack([first, ~first], 1).reshape(-1, len(demos))  # (2K, E)
    bar = Bar(f"training on {2 * count} halves") if progress else Quiet()
    training = Training(
        name=name, method=applied, settings=settings, device=torch_device, progress=bar
    )
    policies = _train(demos, learns, training, seed)
    kept = _converged(policies.diverged, len(demos))
    rows = np.repeat(kept, 2)
    first, learns = first[kept], learns[rows]
    about: dict[str, Any] = {"splits": len(first), "steps": settings.step_count, "env": env}
    about["names"] = tuple(e.name for e in demos.episodes)
    about["operators"] = tuple(e.operator for e in demos.episodes)
    if env is not None:
        returns = evaluate(policies, env, episodes=episodes, seed=seed, progress=progress).returns
        gains = returns[rows].mean(1)
        fit = least_squares(first, gains[::2] - gains[1::2])
        return Influence(**fit, **about, measure="return", mean=float(gains.mean()), explained=None)
    errors = squared_errors(policies, demos)[rows]  # (2K, E)
    of_pair = episode_of_pair(demos)
    judged = np.array([not judges or e.operator in judges for e in demos.episodes])
    gains, mean = _gains(errors, learns, np.bincount(of_pair, minlength=len(demos)) * judged)
    fit = least_squares(first, (gains[::2] - gains[1::2]) / mean)
    explained = _explained(demos, errors, learns, of_pair, judged)
    return Influence(
        **fit, **about, measure="held-out error", mean=mean, explained=explained,
        may_only_repeat=_may_only_repeat(demos, None if judges else explained),
    )  # fmt: skip


def _may_only_repeat(demos: Demonstrations, explained: Share | None) -> bool:
    """Return whether policies may only repeat the previous action; they explain this share, if it
    is that of all actions."""
    shares = explain_if_possible(demos)
    if shares is not None and explained is not None:
        shares = replace(shares, present=explained)
    return shares is not None and shares.may_only_repeat


def _method(method: str, settings: Settings) -> tuple[str, Method]:
    """Return the name and the definition of a method; refuse what influence cannot train."""
    if settings.lag != 0 or settings.steps == "auto" or settings.radius == "auto":
        raise OptionError("influence trains without a lag, with a given number of steps and radius")
    name, found = find_method(method)
    applied = settings.apply(found)
    if applied.policy.history > 1 or applied.policy.horizon > 1:
        raise OptionError("influence trains policies that read one observation; leave history out")
    return name, applied


def _train(demos: Demonstrations, learns: Array, training: Training, seed: int) -> Policies:
    """Train a policy on the episodes of each row of `learns`, (2K, E); two rows share a seed."""
    settings = training.settings
    radius, label = radius_of(settings.radius, [demos]), demos.fingerprint()
    members = [Member(seed + k // 2, radius, 0, label) for k in range(len(learns))]
    of_pair = episode_of_pair(demos)
    lists = [demos.learned[row[of_pair]] for row in learns]
    plan = plan_training(
        [demos], training.method, settings, members, name=training.name, lists=lists
    )
    (policies,) = run_snapshots(
        plan, [settings.step_count], device=training.device, progress=training.progress
    )
    return policies


def _converged(diverged: Array, episodes: int) -> Array:
    """Return which splits have two policies that did not diverge: (K,) bool."""
    kept = np.asarray(~diverged.reshape(-1, 2).any(1))
    if kept.sum() < episodes + 2:
        raise CounterBCError(
            f"policies of {(~kept).sum()} of {len(kept)} splits diverged, and the others are too "
            "few; lower the learning rate"
        )
    return kept


def episode_of_pair(demos: Demonstrations) -> Array:
    """Return the number of the episode of each learned pair: (n,)."""
    return np.repeat(np.arange(len(demos)), [len(e) for e in demos.episodes])[demos.learned]


def _check(
    demos: Demonstrations, splits: int, judges: Sequence[str], env: str | None, episodes: int
) -> None:
    count = len(demos)
    if count < LEAST_EPISODES:
        raise DataError(
            f"there are {count} episodes; influence compares halves of {LEAST_EPISODES} or more"
        )
    if splits < count + 2:
        raise OptionError(
            f"splits is {splits}; {count} episodes need {count + 2} or more, better twice as many"
        )
    if judges and env is not None:
        raise OptionError("judges measure the held-out error; leave them out, or leave env out")
    unknown = sorted(set(judges) - set(demos.operators))
    if unknown:
        known = ", ".join(demos.operators) or "none"
        raise OptionError(f"no episode is by {unknown[0]}; the operators are: {known}")
    check_episodes(episodes)
    if env is not None:
        check_environment(env, demos)


def random_halves(episodes: int, splits: int, seed: int) -> Array:
    """Return the episodes of the first half of each split: (K, E) bool.

    Every episode is in it with probability ½. So halves differ in size, by which the effect that
    all episodes share is seen; a quarter of the episodes is the least.
    """
    rng, least = np.random.default_rng(seed), episodes / 4
    halves: list[Array] = []
    while len(halves) < splits:
        half = rng.random(episodes) < 0.5
        if least <= half.sum() <= episodes - least:
            halves.append(half)
    return np.array(halves)


def squared_errors(policies: Policies, demos: Demonstrations) -> Array:
    """Return each policy's mean squared error on each episode's learned pairs: (P, E).

    Action dimensions span [−1, 1] and are summed.
    """
    pairs = demos.learned
    of_pair = episode_of_pair(demos)
    target = scaled_actions(demos, demos.action[pairs].astype(np.float64))
    sums = np.zeros((len(policies), len(demos)))
    size = max(_BLOCK // len(policies), 1)
    for block in np.array_split(np.arange(len(pairs)), range(size, len(pairs), size)):
        acting = Acting(policies, range(len(block)), "mean", 0)
        obs = policies.tensor(obs_rows(demos, pairs[block])).expand(len(policies), -1, -1)
        actions = acting.actions(obs).double().cpu().numpy()  # (P, n, A)
        squares = ((scaled_actions(demos, actions) - target[block]) ** 2).sum(-1)
        np.add.at(sums.T, of_pair[block], squares.T)
    return np.asarray(sums / np.maximum(np.bincount(of_pair, minlength=len(demos)), 1))


def _gains(errors: Array, learns: Array, sizes: Array) -> tuple[Array, float]:
    """Return minus each policy's error beyond the usual on episodes it did not learn from, (P,),
    and the usual error of all.

    An episode's usual error is the mean over the policies that did not learn from it: without it,
    the gains would say which episodes are hard to predict.
    """
    weight = ~learns * sizes  # (P, E)
    usual = (errors * ~learns).sum(0) / (~learns).sum(0)  # (E,)
    gains = -((errors - usual) * weight).sum(1) / np.maximum(weight.sum(1), 1)
    return gains, float(usual @ sizes / sizes.sum())


def _explained(
    demos: Demonstrations, errors: Array, learns: Array, of_pair: Array, judged: Array
) -> Share:
    """Return the share of the variance of the judged actions that policies of a half explain."""
    usual = (errors * ~learns).sum(0) / (~learns).sum(0)
    inside = judged[of_pair]
    action = scaled_actions(demos, demos.action[demos.learned[inside]].astype(np.float64))
    spread = ((action - action.mean(0)) ** 2).sum(1)
    return Share.of(usual[of_pair[inside]], spread, of_pair[inside])
