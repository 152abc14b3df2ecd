"""Groups of episodes that pursue different goals, found without labels.

A group k is a law of what is done and where it leads. With φ(s) features of a state, s_T the last
state of the episode and y_t = (a_t, s_T),

    y_t | s_t, k ~ N(B_kᵀ φ(s_t), Σ)        ℓ_k(e) = mean over t of log N(y_t; B_kᵀ φ(s_t), Σ)

and an episode belongs to k with probability r_k(e) ∝ w_k exp ℓ_k(e). The mean and not the sum:
pairs of one episode share their s_T, so they are one witness and not many. Σ is shared, so groups
differ in what they want and not in how noisy they are. EM finds B, Σ, w and r; each of its steps
is a ridge regression in closed form. The number of groups is decided on episodes held out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import DataError, OptionError, unknown

Array = NDArray[Any]


@dataclass(frozen=True)
class IntentSearch:
    """How intents are looked for."""

    most: int = 4
    """Groups are tried from 1 up to this many."""
    pairs: int = 16
    """Pairs read per episode, evenly spread."""
    features: int = 60
    """Random waves beside the state itself in φ."""
    width: float = 0.7
    """Standard deviation of the waves' frequencies, for standardized states."""
    ridge: float = 1.0
    """Of the regressions; in units of one pair."""
    floor: float = 0.01
    """Added to the variances of Σ, where y is standardized."""
    restarts: int = 8
    """Beginnings of EM."""
    first_rounds: int = 8
    """Of EM from each beginning, before the likeliest goes on alone."""
    witnesses: float = 3.0
    """As how many an episode counts in these first rounds: counted once, groups that are not yet
    far apart blur into one."""
    rounds: int = 50
    """Of EM at most."""
    folds: int = 4
    """Into which episodes are dealt to decide how many groups there are."""

    def __post_init__(self) -> None:
        for name in ("most", "pairs", "restarts", "first_rounds", "rounds"):
            if getattr(self, name) < 1:
                raise OptionError(f"{name} is {getattr(self, name)}; it must be 1 or more")
        if self.folds < 2:
            raise OptionError(f"folds is {self.folds}; it must be 2 or more")


@dataclass(frozen=True, eq=False)
class Intents:
    """Which episodes want the same."""

    names: tuple[str, ...]
    """Of the E episodes."""
    shares: Array
    """r_k(e), how likely each episode belongs to each group: (E, K); larger groups first."""
    held_out: Mapping[int, Array]
    """For each number of groups that was tried, log-likelihoods of unseen episodes: (E,)."""

    @property
    def groups(self) -> int:
        return int(self.shares.shape[1])

    @property
    def group(self) -> Array:
        """The group of each episode: (E,)."""
        return np.asarray(self.shares.argmax(1))

    @property
    def confidence(self) -> Array:
        """How likely each episode belongs to its group: (E,)."""
        return np.asarray(self.shares.max(1))

    @property
    def sizes(self) -> list[int]:
        return [int(n) for n in np.bincount(self.group, minlength=self.groups)]

    def mark(self, demos: Demonstrations) -> Demonstrations:
        """The same demonstrations with the groups as masks intent_0, intent_1, …"""
        self._check(demos)
        names, group = np.array(self.names), self.group
        masks = {f"intent_{k}": tuple(names[group == k].tolist()) for k in range(self.groups)}
        return replace(demos, masks={**demos.masks, **masks})

    def condition(self, demos: Demonstrations) -> Demonstrations:
        """The same demonstrations with the group, as K numbers 0 or 1, behind each observation.

        A policy trained on them is told what to want: act with the K numbers behind what is seen.
        """
        self._check(demos)
        one_hot = np.eye(self.groups, dtype=np.float32)[self.group]  # (E, K)
        episodes = tuple(
            replace(e, obs=np.concatenate([e.obs, np.tile(row, (len(e), 1))], axis=1))
            for e, row in zip(demos.episodes, one_hot, strict=True)
        )
        return replace(
            demos,
            episodes=episodes,
            obs_keys=(*demos.obs_keys, ("intent", self.groups)),
            obs_names=(*demos.obs_names, *(f"intent[{k}]" for k in range(self.groups))),
        )

    def _check(self, demos: Demonstrations) -> None:
        if tuple(e.name for e in demos.episodes) != self.names:
            raise DataError(
                "these demonstrations have other episodes than those the intents were found in; "
                "find their own"
            )


def find_intents(
    demos: Demonstrations,
    groups: int | None = None,
    *,
    angles: Sequence[str] = (),
    seed: int = 0,
    search: IntentSearch = IntentSearch(),  # noqa: B008 - a frozen value
) -> Intents:
    """The groups of episodes that want the same; `groups` fixes their number.

    `angles` names observations that are angles in radians: they are read as cosine and sine, so
    that whole turns do not count.
    """
    count = search.most if groups is None else groups
    if count < 1:
        raise OptionError(f"groups is {count}; ask for 1 or more")
    if len(demos) < (2 * search.folds if groups is None else groups):
        minimum = 2 * search.folds if groups is None else groups
        raise DataError(
            f"{len(demos)} episodes are too few to tell {count} groups apart; "
            f"give {minimum} or more, or ask for fewer groups"
        )
    x, y = _pairs(demos, angles, seed, search)
    held_out: dict[int, Array] = {}
    if groups is None:
        held_out = {k: _held_out(x, y, k, seed, search) for k in range(1, search.most + 1)}
        groups = _fewest(held_out)
    _, law = _likeliest(x, y, groups, seed, search)
    shares, _ = law.shares(x, y)
    order = np.argsort(-np.bincount(shares.argmax(1), minlength=groups), kind="stable")
    return Intents(tuple(e.name for e in demos.episodes), shares[:, order], held_out)


def _fewest(held_out: Mapping[int, Array]) -> int:
    """The fewest groups that are not clearly worse, by two standard errors, than the best."""
    best = max(held_out, key=lambda k: held_out[k].mean())
    for k, labels in held_out.items():
        loss = held_out[best] - labels
        if loss.mean() <= 2 * loss.std() / np.sqrt(len(loss)):
            return k
    return best


def _held_out(x: Array, y: Array, groups: int, seed: int, search: IntentSearch) -> Array:
    """log-likelihood of every episode under groups found in the other folds: (E,)."""
    fold = np.random.default_rng(seed).permutation(len(x)) % search.folds
    out = np.zeros(len(x))
    for f in range(search.folds):
        law = _likeliest(x[fold != f], y[fold != f], groups, seed, search)[1]
        out[fold == f] = law.shares(x[fold == f], y[fold == f])[1]
    return out


# The pairs


def _pairs(
    demos: Demonstrations, angles: Sequence[str], seed: int, search: IntentSearch
) -> tuple[Array, Array]:
    """φ(s_t) and y_t of some pairs of every episode: (E, n, D), (E, n, Y)."""
    states = _states(demos, angles)
    rng = np.random.default_rng(seed)
    frequency = search.width * rng.normal(size=(states[0].shape[1], search.features))
    phase = rng.uniform(0, 2 * np.pi, search.features)
    height = 3 / np.sqrt(max(search.features, 1) / 2)
    x, y = [], []
    for s, e in zip(states, demos.episodes, strict=True):
        t = np.linspace(0, len(s) - 1, search.pairs).round().astype(int)
        waves = height * np.cos(s[t] @ frequency + phase)
        x.append(np.concatenate([np.ones((len(t), 1)), s[t], waves], axis=1))
        y.append(np.concatenate([e.action[t], np.tile(s[-1], (len(t), 1))], axis=1))
    return np.array(x), _standardize(np.array(y))


def _states(demos: Demonstrations, angles: Sequence[str]) -> list[Array]:
    """The standardized observations of each episode, angles as cosine and sine: (T, S) each."""
    if len(demos.obs_shape) != 1:
        raise DataError(
            f"obs are images of shape {demos.obs_shape}; intents are found in vectors: choose "
            "observation keys that are"
        )
    for name in angles:
        if name not in demos.obs_names:
            raise unknown("observation", name, demos.obs_names)
    obs = demos.obs.astype(np.float64)
    is_angle = np.isin(demos.obs_names, list(angles))
    turns = obs[:, is_angle]
    flat = np.concatenate([obs[:, ~is_angle], np.cos(turns), np.sin(turns)], axis=1)
    ends = np.cumsum([len(e) for e in demos.episodes])
    return list(np.split(_standardize(flat), ends[:-1]))


def _standardize(values: Array) -> Array:
    flat = values.reshape(-1, values.shape[-1])
    scale = flat.std(0)
    return np.asarray((values - flat.mean(0)) / np.where(scale > 1e-9, scale, 1.0))


# EM


@dataclass(frozen=True, eq=False)
class Law:
    """What each group does: w (K,), B (K, D, Y), and Σ⁻¹ with log |Σ|."""

    log_w: Array
    weight: Array
    precision: Array
    log_det: float

    def shares(self, x: Array, y: Array, times: float = 1.0) -> tuple[Array, Array]:
        """r (E, K), and the log-likelihood of each episode (E,), up to a constant.

        With `times` an episode counts as so many witnesses.
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
    """The law that shares (E, K) make likeliest."""
    penalty = search.ridge * np.eye(x.shape[2])
    weight, sigma = [], search.floor * np.eye(y.shape[2])
    for r in shares.T:
        b = np.linalg.solve(np.tensordot(r, gram, 1) + penalty, np.tensordot(r, cross, 1))
        error = (y - x @ b) * np.sqrt(r / (len(x) * x.shape[1]))[:, None, None]
        flat = error.reshape(-1, y.shape[2])
        weight.append(b)
        sigma = sigma + flat.T @ flat
    log_w = np.log(np.maximum(shares.mean(0), 1e-12))
    log_det = 0.5 * float(np.linalg.slogdet(sigma)[1])
    return Law(log_w, np.stack(weight), np.linalg.inv(sigma), log_det)


def _likeliest(
    x: Array, y: Array, groups: int, seed: int, search: IntentSearch
) -> tuple[float, Law]:
    """EM from several beginnings, on from the likeliest."""
    gram, cross = x.transpose(0, 2, 1) @ x, x.transpose(0, 2, 1) @ y  # (E, D, D), (E, D, Y)
    common = _fit(x, y, gram, cross, np.ones((len(x), 1)), search)
    if groups == 1:
        return float(common.shares(x, y)[1].mean()), common
    beyond = (y - x @ common.weight[0]).mean(1)  # (E, Y): what episodes do beyond the common law
    ends = []
    for restart, shares in enumerate(_beginnings(beyond, groups, search.restarts)):
        for _ in range(search.first_rounds):
            law = _fit(x, y, gram, cross, shares, search)
            shares, log = law.shares(x, y, search.witnesses)
        ends.append((float(log.mean()), restart, shares))
    shares, likely = max(ends)[2], -np.inf
    for _ in range(search.rounds):
        law = _fit(x, y, gram, cross, shares, search)
        shares, log = law.shares(x, y)
        likely, before = float(log.mean()), likely
        if likely - before < 1e-5:
            break
    return likely, law


def _beginnings(beyond: Array, groups: int, most: int) -> list[Array]:
    """Shares to begin with: episodes split by one number each, those that split best: (E, K)."""
    splits = [_split(column, groups) for column in beyond.T]
    within = [_within(column, labels) for column, labels in zip(beyond.T, splits, strict=True)]
    best = np.argsort(within, kind="stable")[:most]
    # Not entirely: EM must be able to change its mind.
    return [0.9 * np.eye(groups)[splits[i]] + 0.1 / groups for i in best]


def _split(values: Array, groups: int) -> Array:
    """k-means of numbers, from their quantiles: (E,) → (E,)."""
    centres = np.quantile(values, (np.arange(groups) + 0.5) / groups)
    for _ in range(20):
        labels = np.abs(values[:, None] - centres).argmin(1)
        present = np.unique(labels)
        centres[present] = [values[labels == k].mean() for k in present]
    return np.asarray(labels)


def _within(values: Array, labels: Array) -> float:
    """The share of the variance that a split leaves: small where there are clear groups."""
    remainder = sum(
        ((values[labels == k] - values[labels == k].mean()) ** 2).sum() for k in np.unique(labels)
    )
    return float(remainder / max(((values - values.mean()) ** 2).sum(), 1e-12))
