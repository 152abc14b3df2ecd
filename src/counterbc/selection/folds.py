"""Parts of a dataset that are held out in turn, and what policies say that never saw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from counterbc.acting.policies import Acting, Member, Policies
from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.errors import DataError
from counterbc.methods import Method
from counterbc.policies import Mixture
from counterbc.selection.mixture_modes import Basins
from counterbc.settings import Settings
from counterbc.training.checks import radius_of, two_valued
from counterbc.training.plan import Job
from counterbc.training.progress import Progress

LEAST_PAIRS = 20
"""Below it a fold holds out fewer than four pairs."""
_GAP = 10  # steps, at most
_GOLDEN = 0.618034


@dataclass(frozen=True, eq=False)
class Folds:
    """Which pairs each fold holds out and which it learns from, as indices into all pairs."""

    kind: Literal["episodes", "blocks"]
    gap: int
    """Steps on either side of a held-out block that nobody learns from; 0 between episodes."""
    held_out: tuple[Array, ...]
    learned: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.held_out)


def split_folds(demos: Demonstrations, count: int, seed: int) -> Folds:
    """Whole episodes are held out where there are `count` of them, else contiguous blocks."""
    if demos.pairs < LEAST_PAIRS:
        raise DataError(
            f"cross-validation needs {LEAST_PAIRS} pairs or more; there are {demos.pairs}; "
            "record more, or give the radius yourself: 0.2 (experts) to 0.5 (novices)"
        )
    pairs, episode = demos.learned, demos.starts[demos.learned]
    if len(np.unique(episode)) < count:
        return _blocks(demos, count, seed)
    fold = deal(episode, count, seed)
    held_out = tuple(pairs[fold == k] for k in range(count))
    return Folds("episodes", 0, held_out, tuple(pairs[fold != k] for k in range(count)))


def deal(group: Array, count: int, seed: int) -> Array:
    """The fold of each pair: groups in random order, large ones first, to the emptiest fold."""
    names, inverse, sizes = np.unique(group, return_inverse=True, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(names))
    fold, load = np.zeros(len(names), int), np.zeros(count, int)
    for e in order[np.argsort(-sizes[order], kind="stable")]:
        fold[e] = load.argmin()
        load[fold[e]] += sizes[e]
    return np.asarray(fold[inverse])


def _blocks(demos: Demonstrations, count: int, seed: int) -> Folds:
    """Neighbouring steps are alike: those within the gap of a held-out pair are not learned from.

    The gap is a twentieth of all steps, at most 10, so that most pairs are left. Blocks of another
    seed begin elsewhere; one of them then goes on at the first pair.
    """
    pairs, starts = demos.learned, demos.starts
    gap = int(np.clip(len(starts) // 20, 1, _GAP))
    shift = int(_GOLDEN * seed % 1 * len(pairs) / count)  # seeds fill a block evenly
    held_out = tuple(np.array_split(np.roll(pairs, -shift), count))
    learned = []
    for block in held_out:
        near = _steps_to(block, pairs) <= gap  # (n,)
        together = np.isin(starts[pairs], starts[block])
        learned.append(pairs[~(near & together) & ~np.isin(pairs, block)])
    if min(map(len, learned)) < LEAST_PAIRS // 2:
        raise DataError(
            f"blocks with a gap of {gap} steps leave {min(map(len, learned))} pairs to learn from; "
            f"record {count} episodes or more, or give the radius yourself"
        )
    return Folds("blocks", gap, held_out, tuple(learned))


def _steps_to(block: Array, pairs: Array) -> Array:
    """From each pair to the nearest of the block: (n,)."""
    ends = np.sort(block)
    after = np.searchsorted(ends, pairs)
    before = np.abs(pairs - ends[np.maximum(after - 1, 0)])
    beyond = np.abs(ends[np.minimum(after, len(ends) - 1)] - pairs)
    return np.asarray(np.minimum(before, beyond))


@dataclass(frozen=True, eq=False)
class CrossFit:
    """What policies of each radius miss on the pairs they did not learn from."""

    residual: Array
    """(R, G, n, A): shown minus predicted action, in units in which actions span [-1, 1], for R
    repeats, G radii and the n pairs that the dataset learns from."""
    fold: Array
    """(R, n): by which fold each pair was held out."""
    spread: Array | float = 0.0
    """(R, G, n, A): the variance of the action that a mixture takes there; 0 for other policies,
    which are judged by their mean action."""

    def errors(self) -> Array:
        """Mean squared error of each fold: (R, K, G, A)."""
        count = int(self.fold.max()) + 1
        squares = self.residual**2 + self.spread
        return np.array([
            [square[:, fold == k].mean(1) for k in range(count)]
            for square, fold in zip(squares, self.fold, strict=True)
        ])  # fmt: skip


def crossfit(
    datasets: Sequence[Demonstrations],
    folds: Sequence[Sequence[Folds]],
    radii: Sequence[float],
    method: tuple[str, Method],
    settings: Settings,
    device: torch.device,
    progress: Progress,
) -> list[CrossFit]:
    """Train datasets × repeats × folds × radii members as one population; `folds` by repeat.

    Members that differ in their radius alone share their seed, so that the radii are compared on
    the same weights, batches and draws.
    """
    job = Job(list(datasets), *method, settings, "cross-validation", None)
    members, lists = [], []
    for d, (data, repeats) in enumerate(zip(datasets, folds, strict=True)):
        name, size, binary = data.fingerprint(), data.action_size, two_valued([data])
        for repeat, split in enumerate(repeats):
            for k, learned in enumerate(split.learned):
                seed = repeat * len(split) + k
                members += [Member(seed, radius_of(r, size, binary), d, name) for r in radii]
                lists += [learned] * len(radii)
    job.assign_lists(members, lists)
    policies = job.run(device, torch.float32, None, False, progress)
    fits, begin = [], 0
    for data, repeats in zip(datasets, folds, strict=True):
        count = sum(map(len, repeats)) * len(radii)
        fits.append(_fit(policies[begin : begin + count], data, repeats, len(radii)))
        begin += count
    return fits


def _fit(
    policies: Policies, data: Demonstrations, repeats: Sequence[Folds], radii: int
) -> CrossFit:
    place = {pair: i for i, pair in enumerate(data.learned.tolist())}
    residual = np.full((len(repeats), radii, data.pairs, data.action_size), np.nan)
    spread = np.zeros_like(residual)
    fold, begin = np.zeros((len(repeats), data.pairs), int), 0
    for r, split in enumerate(repeats):
        for k, pairs in enumerate(split.held_out):
            at = [place[pair] for pair in pairs.tolist()]
            some = policies[begin : begin + radii]
            residual[r][:, at], spread[r][:, at] = _residuals(some, data, pairs)
            fold[r, at] = k
            begin += radii
    return CrossFit(residual, fold, spread)


def _residuals(policies: Policies, data: Demonstrations, pairs: Array) -> tuple[Array, Array]:
    """Shown minus acted, in the policies' units, and the variance of acting: (P, n, A) each."""
    acting = Acting(policies, range(len(pairs)), "mean", 0)
    obs, scales = policies.tensor(data.obs), policies.scales
    nothing = scales.obs_mean.unsqueeze(1).to(obs.dtype)  # read as 0, as before an episode's start
    for back in range(policies.policy.history - 1, -1, -1):
        index = pairs - back
        inside = torch.tensor(index >= data.starts[pairs])[:, None]
        acted = acting.actions(torch.where(inside, obs[index], nothing))  # (P, n, A)
    shown = scales.action(torch.tensor(data.action[pairs]).expand_as(acted))
    if isinstance(policies.policy, Mixture) and policies.shards == 1:
        mean, variance = _of_modes(policies, policies.policy, acting.window, shown)
    else:
        mean = scales.action(acted)
        variance = torch.zeros_like(mean)
    return (shown - mean).double().numpy(), variance.double().numpy()


@torch.no_grad()
def _of_modes(
    policies: Policies, policy: Mixture, window: Tensor, shown: Tensor
) -> tuple[Tensor, Tensor]:
    """Mean and variance of each member within the mode of the shown action: (P, n, A) each.

    Modes are those of the first member, whose radius is 0: had each member its own, those that
    split the noise of one mode into many would come out best.
    """
    seen = window if policy.history > 1 else window.squeeze(2)
    head = policy.head(policies.params, seen)
    each = [tuple(x[p] for x in head) for p in range(len(policies))]
    basins = Basins.of(policy, each[0])
    found = [basins.within(h, a) for h, a in zip(each, shown, strict=True)]
    means, variances = zip(*found, strict=True)
    return torch.stack(means), torch.stack(variances)
