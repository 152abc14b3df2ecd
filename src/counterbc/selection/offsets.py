"""Choose offsets: how far each operator acts to one side of the others, in the same states.

An operator with the offset b shows a = a* + b + noise, always with the same b. Demonstrations show
only differences between operators: the offsets are those that sum to zero, and only significant
ones are removed. Nothing can be said about a single operator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import stdtr  # scipy.stats takes a second to import

from counterbc.acting.intervals import holm
from counterbc.data.action_scale import scaled_actions, user_actions
from counterbc.data.angles import cos_and_sin
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import answer_states
from counterbc.data.offsets import NO_OFFSETS, Offsets, offset_text, offsets_of
from counterbc.data.radii import two_valued
from counterbc.selection.operator_effects import Effects, operator_effects
from counterbc.selection.shared_states import shared_states
from counterbc.selection.shares import Share

LEAST_OPERATORS = 3
"""Of two operators who differ, nobody can say which one errs."""
LEAST_SHARED = 0.5
"""Least share of an operator's states that must be shared with others."""
LEAST_PAIRS = 20
"""Least pairs of an operator at shared states."""
LEVEL = 0.01
"""Offsets are removed if their p-value, adjusted by Holm's method, is at most this."""
PAIRS = 800
"""Larger datasets are subsampled at random to this many pairs."""
NO_OPERATORS = "no operators are recorded"
_STRETCH = 20  # steps of a cluster where operators have few episodes
_NAMED = 2  # operators at most; more are counted
_EPISODES = 3  # of each operator on average; fewer are few


@dataclass(frozen=True)
class OperatorOffset:
    """The evidence on one operator: numbers per action dimension, in units of the action."""

    operator: str
    reason: str = ""
    """Why nothing can be said about this operator; empty otherwise."""
    shared: float = 0.0
    """Share of their states that are shared with others."""
    explained: Share | None = None
    """Share of the variance of their actions, around their mean, that the actions of the others
    explain."""
    offset: tuple[float, ...] = ()
    """The estimate, whether significant or not; empty where nothing can be said."""
    se: tuple[float, ...] = ()
    p: tuple[float, ...] = ()
    """p-values, adjusted for all operators and dimensions."""


@dataclass(frozen=True)
class OffsetChoice:
    """The offsets of the operators of a dataset, with the evidence for them."""

    offsets: Offsets = NO_OFFSETS
    """What is removed: the significant offsets; the other numbers are 0."""
    verdict: Literal["to one side", "none", "cannot tell", "given"] = "cannot tell"
    reason: str = ""
    """Why the data cannot tell; empty otherwise."""
    operators: tuple[OperatorOffset, ...] = ()
    action_names: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The explanation; none for data without operators, or if offsets are not to be removed."""
        is_given = self.verdict == "given" and not self.offsets
        is_unlabelled = self.verdict == "cannot tell" and self.reason in ("", NO_OPERATORS)
        return () if is_given or is_unlabelled else (self.explanation,)

    @property
    def explanation(self) -> str:
        """The finding in the user's words."""
        if self.verdict == "cannot tell":
            return f"Cannot tell whether operators err to one side: {self.reason}"
        if self.verdict == "given" and not self.offsets:
            return "Offsets of operators are not removed, as given"
        texts = [f"{name} acts {text}" for name, text in self._texts()]
        if self.verdict == "given":
            return "; ".join([*texts, "removed, as given"])
        unknown = _unknown(self.operators)
        doubt = f" (cannot tell about {unknown})" if unknown else ""
        if self.verdict == "none":
            return f"No operator errs to one side clearly more than the others{doubt}"
        return f"{'; '.join(texts)}, compared with all operators; undone{doubt}"

    def _texts(self) -> Iterator[tuple[str, str]]:
        """Yield each operator who has an offset, with the offset in words."""
        errors = {o.operator: o.se for o in self.operators}
        for name, offset in self.offsets:
            se = errors.get(name, (None,) * len(offset))
            numbers = zip(self.action_names, offset, se, strict=True)
            yield name, ", ".join(offset_text(*number) for number in numbers if number[1])

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as JSON has it."""
        return asdict(self) | {"explanation": self.explanation, "sentences": self.sentences}


def find_offsets(
    datasets: Sequence[Demonstrations], lags: Sequence[tuple[float, ...]], offsets: str
) -> list[OffsetChoice]:
    """Return the offsets of each dataset: those in the settings, or chosen ones."""
    if offsets == "auto":
        return [choose_offsets(d, lag) for d, lag in zip(datasets, lags, strict=True)]
    return [
        OffsetChoice(offsets_of(offsets, d), "given", action_names=d.action_names) for d in datasets
    ]


def choose_offsets(demos: Demonstrations, lag: Sequence[float] = (0.0,)) -> OffsetChoice:
    """Return the offsets of a dataset, with its lag undone."""
    choice = OffsetChoice(reason=_unsearchable(demos), action_names=demos.action_names)
    if choice.reason:
        return choice
    demos = answer_states(demos, lag)
    if demos.pairs > PAIRS:
        demos = demos.sample_pairs(PAIRS, seed=0)
    pairs = _Pairs.of(demos)
    evidence = [_compare(pairs, o, name) for o, name in enumerate(demos.operators)]
    compared = [o for o, e in enumerate(evidence) if not e.reason]
    if len(compared) < LEAST_OPERATORS:
        return _too_few(choice, evidence)
    rows = pairs.shared & np.isin(pairs.operator, compared)
    number = np.searchsorted(compared, pairs.operator[rows])
    cluster = pairs.clusters(rows, len(compared))
    effects = operator_effects(pairs.obs[rows], pairs.action[rows], number, cluster)
    for i, o in enumerate(compared):
        evidence[o] = _explain(evidence[o], pairs.action[rows], effects, number == i, cluster)
    conclusive = [i for i, o in enumerate(compared) if not evidence[o].reason]
    if len(conclusive) < LEAST_OPERATORS:
        return _too_few(choice, evidence)
    offset, se = effects.offset[conclusive], effects.se[conclusive]  # (C, A) each
    p = 2 * stdtr(cluster.max() + 1 - len(compared), -np.abs(offset) / np.maximum(se, 1e-9))
    p[:, two_valued([demos]) | (se < 1e-6).any(0)] = np.nan  # nobody means a value between two
    p = np.reshape(holm(p.ravel().tolist()), p.shape)
    half_range = _half_range(demos)
    for i, o in enumerate(compared[j] for j in conclusive):
        numbers = (offset[i] * half_range, se[i] * half_range, np.nan_to_num(p[i], nan=1.0))
        values = [tuple(map(float, x)) for x in numbers]
        evidence[o] = replace(evidence[o], offset=values[0], se=values[1], p=values[2])
    names = [demos.operators[compared[i]] for i in conclusive]
    removed = zip(names, np.where(p <= LEVEL, offset * half_range, 0.0), strict=True)
    offsets = tuple((name, tuple(map(float, row))) for name, row in removed if row.any())
    verdict: Literal["to one side", "none"] = "to one side" if offsets else "none"
    return replace(choice, offsets=offsets, verdict=verdict, operators=tuple(evidence))


def _unsearchable(demos: Demonstrations) -> str:
    """Return why no offset can be searched in a dataset; empty where it can."""
    action, count = demos.action[demos.learned], len(demos.operators)
    if not count:
        return NO_OPERATORS
    if any(e.operator is None for e in demos.episodes):
        return "not every episode names its operator"
    if count < LEAST_OPERATORS:
        who = "there is one operator" if count == 1 else "of two operators, either may err"
        return f"{who}; record {LEAST_OPERATORS} or more"
    if len(demos.obs_shape) > 1:
        return "on images no offset is searched"
    if (action == action[0]).all():
        return "all actions are the same"
    if demos.actions_are == "taken":
        return "recorded actions were cut at the bounds, which hides offsets"
    return ""


def _too_few(choice: OffsetChoice, evidence: Sequence[OperatorOffset]) -> OffsetChoice:
    reason = f"nothing can be said about {_unknown(evidence)}"
    return replace(choice, operators=tuple(evidence), reason=reason)


def _unknown(evidence: Sequence[OperatorOffset]) -> str:
    """Return about whom nothing can be said, and why; empty if something can about everybody."""
    names = [e.operator for e in evidence if e.reason]
    counts = Counter(e.reason for e in evidence if e.reason)
    who = " and ".join(names)
    if len(names) > _NAMED:
        who = f"{len(names)} of {len(evidence)} operators"
    several = len(counts) > 1
    reasons = [f"{reason} ({n})" if several else reason for reason, n in counts.most_common()]
    return f"{who}: {', '.join(reasons)}" if names else ""


@dataclass(frozen=True, eq=False)
class _Pairs:
    """What is compared of n pairs; actions are in units in which they span [−1, 1]."""

    obs: Array  # (n, S)
    action: Array  # (n, A)
    operator: Array  # (n,)
    episode: Array  # (n,)
    step: Array  # (n,)
    shared: Array  # (n,)

    @staticmethod
    def of(demos: Demonstrations) -> _Pairs:
        pairs, start = demos.learned, demos.starts[demos.learned]
        number = [demos.operators.index(str(e.operator)) for e in demos.episodes]
        operator = np.repeat(number, [len(e) for e in demos.episodes])[pairs]
        obs, action = (x[pairs].astype(np.float64) for x in (cos_and_sin(demos).obs, demos.action))
        return _Pairs(
            obs, scaled_actions(demos, action), operator, start, pairs - start,
            shared_states(obs, operator, start),
        )  # fmt: skip

    def clusters(self, rows: Array, operators: int) -> Array:
        """Return the episode of each of these pairs, or its stretch of steps: (n,)."""
        cluster = self.episode[rows].astype(float)
        if len(np.unique(cluster)) < _EPISODES * operators:
            cluster += self.step[rows] // _STRETCH / (self.step.max() + 1)
        return np.unique(cluster, return_inverse=True)[1]


def _compare(pairs: _Pairs, o: int, name: str) -> OperatorOffset:
    """Return whether an operator visits states of the others."""
    own = pairs.shared[pairs.operator == o]
    share = float(own.mean()) if len(own) else 0.0
    is_near = share >= LEAST_SHARED and own.sum() >= LEAST_PAIRS
    reason = "" if is_near else "too few states shared with the others"
    return OperatorOffset(name, reason, share)


def _explain(
    evidence: OperatorOffset, action: Array, effects: Effects, own: Array, cluster: Array
) -> OperatorOffset:
    """Return whether the actions of the others explain those of an operator, but for a constant."""
    action, residual = action[own], action[own] - effects.predicted[own]
    squares = ((residual - residual.mean(0)) ** 2).sum(1)
    spread = ((action - action.mean(0)) ** 2).sum(1)
    if not spread.any():
        return replace(evidence, reason="always the same action")
    share = Share.of(squares, spread, cluster[own])
    reason = "" if share.is_enough else "actions unlike those of the others in the same states"
    return replace(evidence, reason=reason, explained=share)


def _half_range(demos: Demonstrations) -> Array:
    """Return half the range of each action dimension, in its units: (A,)."""
    ends = user_actions(demos, np.array([[0.0], [1.0]]) * np.ones(demos.action_size))
    return np.asarray(ends[1] - ends[0])
