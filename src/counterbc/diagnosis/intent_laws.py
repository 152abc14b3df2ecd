"""The laws of groups of episodes, fitted by EM; `intents.py` states the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.field_checks import check_fields, field_from


@dataclass(frozen=True)
class IntentSearch:
    """How intents are searched."""

    max_groups: int = field_from(1, 4)
    """The largest number of groups to try, from 1 on."""
    pairs: int = field_from(1, 16)
    """Pairs read per episode, evenly spread."""
    features: int = 60
    """Random waves of the state among the features, in addition to the state itself."""
    width: float = 0.7
    """Standard deviation of the waves' frequencies, for standardized states."""
    ridge: float = 1.0
    """Ridge penalty on the weights of the features, in units of one pair."""
    added_variance: float = 0.01
    """Added to the variances of the targets, which are the standardized action and last state."""
    restarts: int = field_from(1, 8)
    """Number of initial groupings of EM."""
    first_rounds: int = field_from(1, 8)
    """Rounds of EM from each of them, before only the likeliest continues."""
    first_weight: float = 3.0
    """How many times an episode counts in these first rounds; counted once, groups that are not yet
    far apart would merge."""
    rounds: int = field_from(1, 50)
    """The largest number of rounds of EM."""
    dimensions: int = field_from(1, 40)
    """Observations with more dimensions are reduced to this many principal components, since the
    time grows with their cube."""
    folds: int = field_from(2, 4)
    """Folds of episodes that decide the number of groups."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, eq=False)
class Law:
    """The law of each group: log w (K,), B (K, D, Y), and Σ⁻¹ with ½ log |Σ|."""

    log_w: Array
    weight: Array
    precision: Array
    log_det: float

    def shares(self, x: Array, y: Array, times: float = 1.0) -> tuple[Array, Array]:
        """Return r (E, K), and the log-likelihood of each episode (E,), up to a constant.

        An episode counts `times` times.
        """
        log_each = [
            w + times * self._log(x, y, b) for w, b in zip(self.log_w, self.weight, strict=True)
        ]
        log = np.stack(log_each, axis=1)
        top = log.max(1, keepdims=True)
        share = np.exp(log - top)
        total = share.sum(1, keepdims=True)
        return share / total, (top + np.log(total))[:, 0]

    def _log(self, x: Array, y: Array, weight: Array) -> Array:
        error = y - x @ weight  # (E, n, Y)
        return np.asarray(-0.5 * ((error @ self.precision) * error).sum(2).mean(1)) - self.log_det


def _fit(x: Array, y: Array, gram: Array, cross: Array, shares: Array, search: IntentSearch) -> Law:
    """Return the law that shares (E, K) make likeliest."""
    penalty = search.ridge * np.eye(x.shape[2])
    weight, sigma = [], search.added_variance * np.eye(y.shape[2])
    for r in shares.T:
        b = np.linalg.solve(np.tensordot(r, gram, 1) + penalty, np.tensordot(r, cross, 1))
        error = (y - x @ b) * np.sqrt(r / (len(x) * x.shape[1]))[:, None, None]
        flat = error.reshape(-1, y.shape[2])
        weight.append(b)
        sigma = sigma + flat.T @ flat
    log_w = np.log(np.maximum(shares.mean(0), 1e-12))
    log_det = 0.5 * float(np.linalg.slogdet(sigma)[1])
    return Law(log_w, np.stack(weight), np.linalg.inv(sigma), log_det)


def likeliest_law(
    x: Array, y: Array, groups: int, seed: int, search: IntentSearch
) -> tuple[float, Law]:
    """Run EM from several initial groupings, and continue from the likeliest."""
    gram, cross = x.transpose(0, 2, 1) @ x, x.transpose(0, 2, 1) @ y  # (E, D, D), (E, D, Y)
    common = _fit(x, y, gram, cross, np.ones((len(x), 1)), search)
    if groups == 1:
        return float(common.shares(x, y)[1].mean()), common
    mean_error = (y - x @ common.weight[0]).mean(1)  # (E, Y): the mean error of the common law
    ends = []
    for restart, shares in enumerate(_initial_shares(mean_error, groups, search.restarts)):
        for _ in range(search.first_rounds):
            law = _fit(x, y, gram, cross, shares, search)
            shares, log = law.shares(x, y, search.first_weight)
        ends.append((float(log.mean()), restart, shares))
    shares, likely = max(ends)[2], -np.inf
    for _ in range(search.rounds):
        law = _fit(x, y, gram, cross, shares, search)
        shares, log = law.shares(x, y)
        likely, before = float(log.mean()), likely
        if likely - before < 1e-5:
            break
    return likely, law


def _initial_shares(mean_error: Array, groups: int, limit: int) -> list[Array]:
    """Return initial shares (E, K): episodes split along the dimensions that split best."""
    splits = [_split(column, groups) for column in mean_error.T]
    within = [_within(column, labels) for column, labels in zip(mean_error.T, splits, strict=True)]
    best = np.argsort(within, kind="stable")[:limit]
    # Not entirely, so that EM can move episodes to another group.
    return [0.9 * np.eye(groups)[splits[i]] + 0.1 / groups for i in best]


def _split(values: Array, groups: int) -> Array:
    """Return k-means labels of numbers, started from their quantiles: (E,) → (E,)."""
    centres = np.quantile(values, (np.arange(groups) + 0.5) / groups)
    for _ in range(20):
        labels = np.abs(values[:, None] - centres).argmin(1)
        present = np.unique(labels)
        centres[present] = [values[labels == k].mean() for k in present]
    return np.asarray(labels)


def _within(values: Array, labels: Array) -> float:
    """Return the share of the variance that a split leaves: small for clear groups."""
    remainder = sum(
        ((values[labels == k] - values[labels == k].mean()) ** 2).sum() for k in np.unique(labels)
    )
    return float(remainder / max(((values - values.mean()) ** 2).sum(), 1e-12))
