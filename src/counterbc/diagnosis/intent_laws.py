"""The laws of groups of episodes, fitted by EM; `intents.py` states the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.field_checks import check_fields, field_from

_BLOCK = 5000  # episodes whose errors are in memory at once


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
    most_episodes: int = field_from(8, 4000)
    """Larger datasets are subsampled at random to this many episodes to find the groups; all
    episodes are then assigned to them."""

    def __post_init__(self) -> None:
        check_fields(self)

    def sample(self, count: int, seed: int) -> Array:
        """Return which of `count` episodes decide the groups: (≤ most_episodes,)."""
        if count <= self.most_episodes:
            return np.arange(count)
        return np.sort(np.random.default_rng(seed).permutation(count)[: self.most_episodes])


@dataclass(frozen=True, eq=False)
class Law:
    """The law of each group: log w (K,), B (K, D, Y), and Σ⁻¹ with ½ log |Σ|."""

    log_w: Array
    weight: Array
    precision: Array
    log_det: float

    def shares(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Return r (E, K), and the log-likelihood of each episode (E,), up to a constant."""
        blocks = [slice(i, i + _BLOCK) for i in range(0, len(x), _BLOCK)]  # errors are large
        shares = [self.shares_of(_errors(x[b], y[b], self.weight)) for b in blocks]
        return np.concatenate([s for s, _ in shares]), np.concatenate([log for _, log in shares])

    def shares_of(self, error: Array, times: float = 1.0) -> tuple[Array, Array]:
        """Return the same from the errors of this law (E, n, K, Y).

        An episode counts `times` times.
        """
        flat = error.reshape(-1, error.shape[3])
        square = np.einsum("iy,iy->i", flat @ self.precision, flat).reshape(error.shape[:3])
        log = self.log_w + times * (-0.5 * square.mean(1) - self.log_det)  # (E, K)
        top = log.max(1, keepdims=True)
        share = np.exp(log - top)
        total = share.sum(1, keepdims=True)
        return share / total, (top + np.log(total))[:, 0]


def _errors(x: Array, y: Array, weight: Array) -> Array:
    """Return y − φ(x) B of every group: (E, n, K, Y); one product of all pairs and groups."""
    groups, inputs, outputs = weight.shape
    predicted = x.reshape(-1, inputs) @ weight.transpose(1, 0, 2).reshape(inputs, -1)
    return np.asarray(y[:, :, None] - predicted.reshape(*y.shape[:2], groups, outputs))


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over the pairs of each episode that weights are computed from."""

    gram: Array
    """The part of φᵀ φ on and above its diagonal, since it is symmetric: (E, D (D + 1) / 2)."""
    cross: Array
    """φᵀ y: (E, D, Y)."""

    @staticmethod
    def of(x: Array, y: Array) -> _Sums:
        """Return the sums of each episode."""
        transposed, above = x.transpose(0, 2, 1), np.triu_indices(x.shape[2])
        return _Sums((transposed @ x)[:, *above], transposed @ y)

    def weights(self, shares: Array, ridge: float) -> Array:
        """Return B of each group (K, D, Y), in which episodes count by their shares (E, K)."""
        size = self.cross.shape[1]
        i, j = np.triu_indices(size)
        gram = np.empty((shares.shape[1], size, size))
        gram[:, i, j] = gram[:, j, i] = shares.T @ self.gram
        cross = np.tensordot(shares.T, self.cross, 1)
        return np.linalg.solve(gram + ridge * np.eye(size), cross)


def _fit(x: Array, y: Array, sums: _Sums, shares: Array, search: IntentSearch) -> tuple[Law, Array]:
    """Return the law that shares (E, K) make likeliest, and its errors (E, n, K, Y)."""
    weight = sums.weights(shares, search.ridge)
    error = _errors(x, y, weight)
    each = np.sqrt(shares / (len(x) * x.shape[1]))[:, None, :, None]
    flat = (error * each).reshape(-1, y.shape[2])
    sigma = search.added_variance * np.eye(y.shape[2]) + flat.T @ flat
    log_w = np.log(np.maximum(shares.mean(0), 1e-12))
    log_det = 0.5 * float(np.linalg.slogdet(sigma)[1])
    return Law(log_w, weight, np.linalg.inv(sigma), log_det), error


def likeliest_law(
    x: Array, y: Array, groups: int, seed: int, search: IntentSearch
) -> tuple[float, Law]:
    """Run EM from several initial groupings, and continue from the likeliest."""
    sums = _Sums.of(x, y)
    common, error = _fit(x, y, sums, np.ones((len(x), 1)), search)
    if groups == 1:
        return float(common.shares_of(error)[1].mean()), common
    mean_error = error[:, :, 0].mean(1)  # (E, Y): the mean error of the common law
    ends = []
    for restart, shares in enumerate(_initial_shares(mean_error, groups, search.restarts)):
        for _ in range(search.first_rounds):
            law, error = _fit(x, y, sums, shares, search)
            shares, log = law.shares_of(error, search.first_weight)
        ends.append((float(log.mean()), restart, shares))
    shares, likely = max(ends)[2], -np.inf
    for _ in range(search.rounds):
        law, error = _fit(x, y, sums, shares, search)
        shares, log = law.shares_of(error)
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
