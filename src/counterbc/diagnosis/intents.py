"""Groups of episodes that pursue different goals, found without labels.

A group k has a law of its actions and of where they lead. With features φ(s) of a state, the last
state s_T of the episode and y_t = (a_t, s_T),

    y_t | s_t, k ~ N(B_kᵀ φ(s_t), Σ)        ℓ_k(e) = mean over t of log N(y_t; B_kᵀ φ(s_t), Σ)

and an episode belongs to k with probability r_k(e) ∝ w_k exp ℓ_k(e). ℓ is a mean and not a sum:
the pairs of an episode share their s_T, so they are not independent. Σ is shared, so groups differ
in their goals and not in their noise. EM estimates B, Σ, w and r; each of its steps is a ridge
regression in closed form. Held-out episodes decide the number of groups. A random sample of a large
dataset decides all of this, and the other episodes get their r_k(e) from it.

With many dimensions and few episodes this law overfits and finds one group. Then the final states
alone may show more (`intent_ends.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from counterbc.data.angles import wrapped_angles
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.dimensions import dimension_text, dims_of, find_dims
from counterbc.data.merge import file_operators
from counterbc.data.names import GOAL_KEY
from counterbc.diagnosis.intent_ends import (
    EndData,
    are_goals,
    are_operators,
    could_tell,
    find_end_groups,
    group_ends,
)
from counterbc.diagnosis.intent_laws import IntentSearch as IntentSearch
from counterbc.diagnosis.intent_laws import likeliest_law
from counterbc.diagnosis.intent_pairs import end_data, features_and_targets, standardized_states
from counterbc.errors import DataError, OptionError, unknown


@dataclass(frozen=True, eq=False)
class Intents:
    """Groups of episodes with the same goal."""

    names: tuple[str, ...]
    """The names of the E episodes."""
    shares: Array
    """r_k(e), the probability of each group for each episode: (E, K); larger groups first."""
    held_out: Mapping[int, Array]
    """The log-likelihood of held-out episodes for each number of groups that was tried: (E,); of a
    sample of large datasets."""
    end_held_out: Mapping[int, Array] = field(default_factory=dict)
    """That of the final states of held-out episodes alone: (E,)."""
    angles: tuple[str, ...] = ()
    """The observations that were read as angles: those named, and those that wrap."""

    @property
    def verdict(self) -> str:
        """What the data say: groups, no evidence, or too few episodes; given if only one K is
        allowed."""
        if len(self.held_out) < 2:
            return "given"
        if self.groups > 1:
            return "groups"
        return "no evidence" if could_tell(self.end_held_out) else "too few episodes"

    @property
    def groups(self) -> int:
        return int(self.shares.shape[1])

    @property
    def group(self) -> Array:
        """The group of each episode: (E,)."""
        return np.asarray(self.shares.argmax(1))

    @property
    def confidence(self) -> Array:
        """The probability that each episode belongs to its group: (E,)."""
        return np.asarray(self.shares.max(1))

    @property
    def sizes(self) -> list[int]:
        return [int(n) for n in np.bincount(self.group, minlength=self.groups)]

    def mark(self, demos: Demonstrations) -> Demonstrations:
        """Return the demonstrations with the groups as masks intent_0, intent_1, …"""
        self._check(demos)
        names, group = np.array(self.names), self.group
        masks = {f"intent_{k}": tuple(names[group == k].tolist()) for k in range(self.groups)}
        return replace(demos, masks={**demos.masks, **masks})

    def condition(self, demos: Demonstrations) -> Demonstrations:
        """Return the demonstrations with the group, as K numbers 0 or 1, after each observation.

        A policy trained on them pursues the goal that the K numbers after an observation name.
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
            obs_keys=(*demos.obs_keys, (GOAL_KEY, self.groups)),
            obs_names=(*demos.obs_names, *(f"{GOAL_KEY}[{k}]" for k in range(self.groups))),
        )

    def _check(self, demos: Demonstrations) -> None:
        if tuple(e.name for e in demos.episodes) != self.names:
            raise DataError(
                "these demonstrations have other episodes than those of the intents; "
                "find the intents of these"
            )


def find_intents(
    demos: Demonstrations,
    groups: int | None = None,
    *,
    angles: Sequence[str] = (),
    seed: int = 0,
    search: IntentSearch = IntentSearch(),  # noqa: B008 - a frozen value
) -> Intents:
    """Return groups of episodes with the same goal; `groups` fixes their number.

    `angles` names observations that are angles in radians. They are read as cosine and sine, so
    that whole turns do not matter. So are declared angles, and those that jump by a whole turn.
    """
    count = search.max_groups if groups is None else groups
    if count < 1:
        raise OptionError(f"groups is {count}; ask for 1 or more")
    minimum = 2 * search.folds if groups is None else groups
    if (usable := min(len(demos), search.most_episodes)) < minimum:
        raise DataError(
            f"{usable} episodes are too few to tell {count} groups apart; "
            f"give {minimum} or more, or ask for fewer groups"
        )
    names = _angle_names(demos, angles)
    states = standardized_states(demos, names)
    x, y = features_and_targets(demos, states, seed, search)
    episodes = end_data(demos, states, y, search, _people(demos))
    sample = search.sample(len(demos), seed)
    if groups is None:
        shares, held_out, end_held_out = _search(x, y, episodes, sample, seed, search)
    else:
        shares = _given(x, y, episodes, sample, groups=groups, seed=seed, search=search)
        held_out, end_held_out = {}, {}
    order = np.argsort(-np.bincount(shares.argmax(1), minlength=shares.shape[1]), kind="stable")
    return Intents(
        tuple(e.name for e in demos.episodes), shares[:, order], held_out, end_held_out, names
    )


def _search(
    x: Array, y: Array, episodes: EndData, sample: Array, seed: int, search: IntentSearch
) -> tuple[Array, dict[int, Array], Mapping[int, Array]]:
    """Return the shares of the groups that the data support, and both kinds of evidence.

    The episodes of the sample decide; the others get shares of the same groups.
    """
    x_sample, y_sample = x[sample], y[sample]
    counts = range(1, search.max_groups + 1)
    held_out = {k: _held_out(x_sample, y_sample, k, seed, search) for k in counts}
    law = likeliest_law(x_sample, y_sample, _fewest(held_out), seed, search)[1]
    ends = find_end_groups(episodes.take(sample), search.max_groups, search.folds, seed)
    shares = law.shares(x, y)[0]
    if shares.shape[1] == 1 or are_operators(episodes, shares.argmax(1)):
        shares = ends.shares_of(episodes.ends)
    return shares, held_out, ends.held_out


def _given(
    x: Array, y: Array, episodes: EndData, sample: Array, *, groups: int, seed: int,
    search: IntentSearch,
) -> Array:  # fmt: skip
    """Return the shares of this number of groups: by final states if these are goals."""
    fold = np.random.default_rng(seed).permutation(len(sample)) % search.folds
    few = episodes.take(sample)
    ends = group_ends(few, groups, seed)
    if groups > 1 and are_goals(few, ends, fold):
        return ends.shares_of(episodes.ends)
    return likeliest_law(x[sample], y[sample], groups, seed, search)[1].shares(x, y)[0]


def _fewest(held_out: Mapping[int, Array]) -> int:
    """Return the fewest groups that are at most two standard errors worse than the best."""
    best = max(held_out, key=lambda k: held_out[k].mean())
    for k, labels in held_out.items():
        loss = held_out[best] - labels
        if loss.mean() <= 2 * loss.std() / np.sqrt(len(loss)):
            return k
    return best


def _held_out(x: Array, y: Array, groups: int, seed: int, search: IntentSearch) -> Array:
    """Return the log-likelihood of every episode under groups of the other folds: (E,)."""
    fold = np.random.default_rng(seed).permutation(len(x)) % search.folds
    out = np.zeros(len(x))
    for f in range(search.folds):
        law = likeliest_law(x[fold != f], y[fold != f], groups, seed, search)[1]
        out[fold == f] = law.shares(x[fold == f], y[fold == f])[1]
    return out


def _people(demos: Demonstrations) -> tuple[str | None, ...]:
    """Return the operator of each episode; None where only the file's name stands for one.

    Files are often sorted by goal, so that what differs between two of them need not be a habit.
    """
    files = file_operators(sources := demos.source.split(" + "), [False] * len(sources))
    return tuple(None if e.operator in files else e.operator for e in demos.episodes)


def _angle_names(demos: Demonstrations, angles: Sequence[str]) -> tuple[str, ...]:
    """Return the observations that are angles: these, those declared, and those that wrap."""
    if len(demos.obs_shape) != 1:
        raise DataError(
            f"obs are images of shape {demos.obs_shape}; intents are found in vectors: choose "
            "observation keys that are"
        )
    for name in angles:
        if find_dims(demos, name) is None:
            raise unknown("observation", name, demos.obs_names)
    dims = {*dims_of(demos, [*angles, *demos.angles]), *wrapped_angles(demos)}
    return tuple(dimension_text(demos, dim) for dim in sorted(dims))
