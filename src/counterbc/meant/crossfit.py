"""Every pair judged by policies that did not see its episode."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from counterbc.demonstrations import Array, Demonstrations
from counterbc.errors import CounterBCError, DataError, InfeasibleActions, OptionError
from counterbc.trained import Acting, Policies
from counterbc.training import train

_CHUNK = 1 << 16  # pairs judged at once


def deal(demos: Demonstrations, folds: int, seed: int) -> Array:
    """Which fold each episode belongs to: (episodes,); every operator is spread over all folds.

    Fewer episodes than `folds` make as many folds as there are episodes.
    """
    if folds < 2:
        raise OptionError(f"{folds} folds were asked for; give 2 or more")
    if len(demos) < 2:
        raise DataError(
            "no episode can be judged by policies that did not see it, as there is 1; give 2 or "
            "more, or cut it into several"
        )
    order = np.random.default_rng(seed).permutation(len(demos))
    numbers = {name: i for i, name in enumerate(demos.operators)}
    who = np.array([numbers.get(str(e.operator), -1) for e in demos.episodes])
    dealt = order[np.argsort(who[order], kind="stable")]
    fold = np.empty(len(demos), int)
    fold[dealt] = np.arange(len(demos)) % min(folds, len(demos))
    return fold


def crossfit(
    demos: Demonstrations, folds: int, repeats: int, seed: int, **options: Any
) -> tuple[Array, tuple[float, ...]]:
    """The mean action at every pair, (repeats, N, A), and the radius Δ of the policies.

    All folds of all repeats are one population of Counter-BC; each repeat deals the episodes anew.
    `options` are those of `train`.
    """
    if repeats < 1:
        raise OptionError(f"{repeats} repeats were asked for; give 1 or more")
    lengths = [len(e) for e in demos.episodes]
    dealt = [np.repeat(deal(demos, folds, seed + r), lengths) for r in range(repeats)]  # (N,) each
    parts = [(r, k) for r in range(repeats) for k in range(int(dealt[r].max()) + 1)]
    others = [_learned(demos, dealt[r] != k) for r, k in parts]
    seeds = [seed + r for r, _ in parts]
    with warnings.catch_warnings():
        # Each pair is learned from by several members; the caller counts it once.
        warnings.simplefilter("ignore", InfeasibleActions)
        policies = train(others, "counter-bc", seeds=seeds, **options)
    means = np.full((repeats, len(dealt[0]), demos.action_size), np.nan)
    for (r, k), policy in zip(parts, policies, strict=True):
        own = dealt[r] == k
        if not policy.diverged.any():
            means[r, own] = _means(policy, demos.obs[own])
    if not np.isfinite(means).any(0).all():
        raise CounterBCError(
            "the policies that judge some episodes diverged; lower the learning rate, or raise "
            "the number of repeats"
        )
    return means, policies.members[0].radius


def _learned(demos: Demonstrations, seen: Array) -> Demonstrations:
    """The same data, learned from only where `seen` (N,) says so."""
    chosen = demos.learned[seen[demos.learned]]
    if not len(chosen):
        raise DataError(
            "a fold leaves no pair to learn from; select pairs of more episodes, or more of them"
        )
    return replace(demos, selected=chosen)


def _means(policy: Policies, obs: Array) -> Array:
    """The mean actions of one member, in the user's units: (n, A)."""
    chunks: Sequence[Array] = np.array_split(obs, range(_CHUNK, len(obs), _CHUNK))
    acts = [
        Acting(policy, range(len(c)), "mean", 0).actions(torch.tensor(c)[None])[0] for c in chunks
    ]
    return torch.cat(acts).double().numpy()
