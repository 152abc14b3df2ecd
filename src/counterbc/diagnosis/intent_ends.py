"""Groups of episodes by where they end: a mixture of Gaussians over the final states.

`intents.py` explains each final state by the states before it. With few episodes and many
dimensions that law has more weights than there are final states. Here the final states alone are
grouped, in as many principal components as the number of *episodes* allows:

    z_e | k ~ N(μ_k, S)        z_e the first E/8 components of the E final states, at most 8

S is shared. A mixture also fits a single group that is not Gaussian, so groups count only if

- final states of held-out episodes are likelier with them, by two standard errors,
- every two of them are eight standard deviations apart (halves of a Gaussian are 2.7 apart, halves
  of a uniform distribution 3.5),
- they act differently: the group explains at least 5 % of what states leave of the actions of
  held-out episodes. A pole falls to the left or to the right without any such difference,
- and they are not just groups of operators, who also differ in their habits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from counterbc.data.arrays import Array

SEPARATED = 8.0
"""The least distance between groups, in standard deviations within them."""
LEAST_SHARE = 0.05
"""The least share of the actions' remaining variance that the group must explain."""
_EPISODES_PER_DIMENSION = 8
_DIMENSIONS = 8
_RESTARTS, _ROUNDS = 20, 100
_ADDED_VARIANCE = 1e-4  # of the total; final states may lie in a plane
_PURE = 0.9  # the share of an operator's episodes in one group from which the group is theirs


@dataclass(frozen=True, eq=False)
class EndData:
    """What is read of E episodes."""

    ends: Array
    """(E, S): final states, where the states of all episodes have a standard deviation of 1."""
    states: Array
    """(E, n, D): some states of each episode, reduced to few dimensions."""
    actions: Array
    """(E, n, A): the actions at these states, standardized."""
    operators: tuple[str | None, ...]

    def take(self, rows: Array) -> EndData:
        """Return what is read of these episodes alone."""
        operators = tuple(self.operators[i] for i in rows)
        return EndData(self.ends[rows], self.states[rows], self.actions[rows], operators)


@dataclass(frozen=True, eq=False)
class EndAxes:
    """The principal components of final states that E episodes can tell."""

    mean: Array
    """(S,)"""
    axes: Array
    """(p, S)"""
    size: float
    """The root mean square of the components, which are divided by it."""

    @staticmethod
    def of(ends: Array) -> EndAxes:
        """Return the components of final states (E, S)."""
        count = int(np.clip(len(ends) // _EPISODES_PER_DIMENSION, 1, _DIMENSIONS))
        mean = ends.mean(0)
        axes = np.linalg.svd(ends - mean, full_matrices=False)[2][:count]
        z = (ends - mean) @ axes.T
        return EndAxes(mean, axes, max(float(np.sqrt((z**2).sum(1).mean())), 1e-12))

    def components(self, ends: Array) -> Array:
        """Return the components of final states: (E, S) → (E, p)."""
        return np.asarray((ends - self.mean) @ self.axes.T / self.size)


@dataclass(frozen=True, eq=False)
class EndGroups:
    """Groups of E final states in p dimensions."""

    shares: Array
    """The probability of each group for each episode: (E, K)."""
    distance: float
    """Between the two nearest groups, in standard deviations; infinite for one group."""
    held_out: Mapping[int, Array]
    """The log-likelihood of each held-out final state for each number of groups: (E,)."""
    axes: EndAxes
    mixture: _Mixture

    def shares_of(self, ends: Array) -> Array:
        """Return the probability of each group for these final states: (E, S) → (E, K)."""
        return self.mixture.shares(self.axes.components(ends))[0]


def principal_ends(ends: Array) -> Array:
    """Return the principal components of final states (E, S) that E episodes can tell: (E, p)."""
    return EndAxes.of(ends).components(ends)


def group_ends(episodes: EndData, groups: int, seed: int) -> EndGroups:
    """Return this number of groups of final states, whether they are separated or not."""
    axes = EndAxes.of(episodes.ends)
    z = axes.components(episodes.ends)
    mixture = _fit(z, groups, seed)
    shares = mixture.shares(z)[0]
    return EndGroups(shares, _least_distance(z, shares.argmax(1)), {}, axes, mixture)


def find_end_groups(episodes: EndData, max_groups: int, folds: int, seed: int) -> EndGroups:
    """Return as many groups as held-out episodes support; one group if there are none."""
    z = principal_ends(episodes.ends)
    fold = np.random.default_rng(seed).permutation(len(z)) % folds
    held_out = {k: _held_out(z, k, fold, seed) for k in range(1, max_groups + 1)}
    for k in sorted(held_out, key=lambda k: -held_out[k].mean()):
        gain = held_out[k] - held_out[1]
        if k == 1 or gain.mean() <= 2 * gain.std() / np.sqrt(len(gain)):
            break
        groups = group_ends(episodes, k, seed)
        if are_goals(episodes, groups, fold):
            return replace(groups, held_out=held_out)
    return replace(group_ends(episodes, 1, seed), held_out=held_out)


def are_goals(episodes: EndData, groups: EndGroups, fold: Array) -> bool:
    """Return whether groups are separated, act differently, and are not groups of operators."""
    group = groups.shares.argmax(1)
    return (
        groups.distance >= SEPARATED
        and _explained_by(episodes, group, fold) >= LEAST_SHARE
        and not are_operators(episodes, group)
    )


def could_tell(held_out: Mapping[int, Array]) -> bool:
    """Return whether two equal groups at the least distance would have been noticed.

    They would make held-out final states likelier by ½ log(1 + d²/4) − log 2 per episode. If the
    gain of two groups may be as large as that, there are too few episodes to tell.
    """
    if 2 not in held_out:
        return False
    gain = held_out[2] - held_out[1]
    most = gain.mean() + 2 * gain.std() / np.sqrt(len(gain))
    return bool(most < 0.5 * np.log(1 + SEPARATED**2 / 4) - np.log(2))


@dataclass(frozen=True, eq=False)
class _Mixture:
    """K Gaussians with a shared covariance: log w (K,), μ (K, p), S⁻¹ and ½ log |S|."""

    log_w: Array
    mean: Array
    precision: Array
    log_det: float

    def shares(self, z: Array) -> tuple[Array, Array]:
        """Return the probability of each group (E, K), and log-likelihoods (E,)."""
        off = z[:, None] - self.mean  # (E, K, p)
        square = ((off @ self.precision) * off).sum(2)
        log = self.log_w - 0.5 * square - self.log_det
        top = log.max(1, keepdims=True)
        share = np.exp(log - top)
        total = share.sum(1, keepdims=True)
        return share / total, (top + np.log(total))[:, 0]


def _fit(z: Array, groups: int, seed: int) -> _Mixture:
    """Return the likeliest mixture among several initial groupings."""
    rng = np.random.default_rng(seed)
    candidates = [_run(z, _k_means(z, groups, rng)) for _ in range(_RESTARTS if groups > 1 else 1)]
    return max(candidates, key=lambda mixture: mixture.shares(z)[1].mean())


def _run(z: Array, labels: Array) -> _Mixture:
    """Run EM from labels (E,) until the likelihood no longer grows."""
    shares, before = np.eye(labels.max() + 1)[labels], -np.inf
    for _ in range(_ROUNDS):
        mixture = _estimate(z, shares)
        shares, log = mixture.shares(z)
        if log.mean() - before < 1e-6:
            break
        before = log.mean()
    return mixture


def _estimate(z: Array, shares: Array) -> _Mixture:
    count = np.maximum(shares.sum(0), 1e-9)  # (K,)
    mean = shares.T @ z / count[:, None]
    off = z[:, None] - mean
    flat = off.reshape(-1, z.shape[1])  # (E · K, p)
    covariance = flat.T @ (shares.reshape(-1, 1) * flat)
    spare = max(len(z) - len(mean), 1)  # degrees of freedom that the means leave
    covariance = covariance / spare + _ADDED_VARIANCE * np.eye(z.shape[1])
    log_det = 0.5 * float(np.linalg.slogdet(covariance)[1])
    return _Mixture(np.log(count / len(z)), mean, np.linalg.inv(covariance), log_det)


def _k_means(z: Array, groups: int, rng: np.random.Generator) -> Array:
    """Return k-means labels, from centres drawn far from each other: (E,)."""
    centres = [z[rng.integers(len(z))]]
    for _ in range(groups - 1):
        square = np.min([((z - c) ** 2).sum(1) for c in centres], axis=0) + 1e-12
        centres.append(z[rng.choice(len(z), p=square / square.sum())])
    centre = np.array(centres)
    for _ in range(20):
        labels = ((z[:, None] - centre) ** 2).sum(2).argmin(1)
        for k in np.unique(labels):
            centre[k] = z[labels == k].mean(0)
    return np.unique(labels, return_inverse=True)[1]


def _held_out(z: Array, groups: int, fold: Array, seed: int) -> Array:
    """Return the log-likelihood of every final state under groups of the other folds: (E,)."""
    out = np.zeros(len(z))
    for f in np.unique(fold):
        out[fold == f] = _fit(z[fold != f], groups, seed).shares(z[fold == f])[1]
    return out


def _least_distance(z: Array, group: Array) -> float:
    """Return the distance between the two nearest groups, in standard deviations within them.

    The square is corrected for the sampling error of means and covariance (Lachenbruch, 1975). 0 if
    a group has fewer than two episodes.
    """
    names, count = np.unique(group, return_counts=True)
    if len(names) < 2:
        return np.inf
    spare = len(z) - len(names) - z.shape[1] - 1
    if count.min() < 2 or spare < 1:
        return 0.0
    shares = (group[:, None] == names).astype(float)
    mixture = _estimate(z, shares)
    off = mixture.mean[:, None] - mixture.mean  # (K, K, p)
    square = np.einsum("ijp,pq,ijq->ij", off, mixture.precision, off)
    square = square * spare / (len(z) - len(names))
    square = square - z.shape[1] * (1 / count[:, None] + 1 / count)
    return float(np.sqrt(max(square[~np.eye(len(names), dtype=bool)].min(), 0.0)))


def _explained_by(episodes: EndData, group: Array, fold: Array) -> float:
    """Return the share of the actions' variance given states that the group explains, held out."""
    x, y = episodes.states, episodes.actions
    x = np.concatenate([np.ones((*x.shape[:2], 1)), x], axis=2)
    one_hot = np.repeat(np.eye(group.max() + 1)[group][:, None], x.shape[1], axis=1)
    alone, together = (
        _held_out_error(z, y, fold) for z in (x, np.concatenate([x, one_hot], axis=2))
    )
    return 1 - together / max(alone, 1e-12)


def _held_out_error(x: Array, y: Array, fold: Array) -> float:
    """Return the mean squared error of ridge regression on held-out episodes."""
    total = 0.0
    for f in np.unique(fold):
        inputs, targets = (v[fold != f].reshape(-1, v.shape[2]) for v in (x, y))
        penalty = x.shape[1] * np.eye(x.shape[2])  # as much as one episode
        weight = np.linalg.solve(inputs.T @ inputs + penalty, inputs.T @ targets)
        total += float(((y[fold == f] - x[fold == f] @ weight) ** 2).sum())
    return total / y.size


def are_operators(episodes: EndData, group: Array) -> bool:
    """Return whether groups are groups of operators that may have the same goal.

    They may if two operators of one group end as far apart as two operators of different groups,
    or if no group has two operators.
    """
    names = np.array([o or "" for o in episodes.operators])
    people = np.unique(names)
    if len(people) < 2 or "" in people:
        return False
    counts = np.array([np.bincount(group[names == p], minlength=group.max() + 1) for p in people])
    if (counts.max(1) / counts.sum(1)).min() < _PURE:
        return False
    z = principal_ends(episodes.ends)
    centre = np.array([z[names == p].mean(0) for p in people])
    gap = np.linalg.norm(centre[:, None] - centre, axis=2)  # (P, P)
    same = counts.argmax(1)[:, None] == counts.argmax(1)
    within = gap[same & ~np.eye(len(people), dtype=bool)]
    return not len(within) or bool(gap[~same].min() <= within.max())
