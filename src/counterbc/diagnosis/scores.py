"""One score per episode and per operator: how far what was shown lies from what is believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.diagnosis import uncertainty
from counterbc.diagnosis.components import Components, by_episode
from counterbc.diagnosis.kinematics import MEASURES, kinematics


@dataclass(frozen=True)
class Score:
    """An episode's or an operator's; distances where each action dimension spans [−1, 1]."""

    name: str
    operator: str | None
    episodes: int
    pairs: int
    distance: float
    """Root mean square over pairs of ‖shown − believed‖, without the judges' error; larger is
    worse. Of an operator with several episodes √(noise² + lasting²)."""
    low: float
    """Of its 90 % interval; NaN where there is too little to tell."""
    high: float
    noise: float
    """The part of the distance that is new at every step."""
    lasting: float
    """The part that stays from one step to the next; of an operator with several episodes 0 where
    chance could make it."""
    odd: float
    """How far the worse part is above the dataset's usual, in robust standard deviations; of an
    operator the mean over episodes."""
    per_dimension: tuple[float, ...]
    """Root mean square of each action dimension, with the judges' error."""
    bias: tuple[float, ...]
    """Mean of shown − believed: a person who is always off to one side."""
    kinematics: dict[str, float]
    """`counterbc.diagnosis.kinematics`; of an operator the mean over episodes."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def interval(self) -> str:
        return "" if np.isnan(self.low) else f"[{self.low:.3f}, {self.high:.3f}]"


def episode_scores(demos: Demonstrations, off: Array, unit: Array) -> tuple[Score, ...]:
    """From shown − believed and the shown actions, (N, A) each where dimensions span [−1, 1]."""
    off_parts, unit_parts = by_episode(demos, off), by_episode(demos, unit)
    parts, moves = Components.of(off_parts), _kinematics(demos, unit_parts)
    return tuple(
        _score(e.name, e.operator, [off_parts[i]], parts, [i], [moves[i]])
        for i, e in enumerate(demos.episodes)
    )


def operator_scores(
    demos: Demonstrations, off: Array, episodes: Sequence[Score]
) -> tuple[Score, ...]:
    """One per operator, in order of first appearance; none where none is recorded."""
    off_parts, scores = by_episode(demos, off), []
    parts = Components.of(off_parts)
    people = {
        name: [i for i, e in enumerate(demos.episodes) if e.operator == name]
        for name in demos.operators
    }
    between = parts.between(list(people.values()))
    for name, own in people.items():
        moves = [episodes[i].kinematics for i in own]
        some = [off_parts[i] for i in own]
        scores.append(_score(name, name, some, parts, own, moves, between))
    return tuple(scores)


def _score(
    name: str,
    operator: str | None,
    off_parts: list[Array],
    parts: Components,
    own: list[int],
    moves: list[dict[str, float]],
    between: float = 0.0,
) -> Score:
    off = np.concatenate(off_parts)  # (n, A)
    total, noise = float((off**2).sum(1).mean()), _mean(parts.noise[own]) - parts.quick
    square, lasting = total - parts.judges - parts.quick, _mean(parts.lasting[own]) - parts.judges
    if len(own) > 1 and np.isfinite(noise):
        lasting = parts.above(own)
        square = max(noise, 0.0) + lasting
    if len(own) > 1:
        low, high = _over_episodes(parts, own, square, between if lasting > 0 else None)
    else:
        low, high = uncertainty.of_series((off**2).sum(1), total - square, parts.spread)
    return Score(
        name=name,
        operator=operator,
        episodes=len(off_parts),
        pairs=len(off),
        distance=_root(square),
        low=low,
        high=high,
        noise=_root(noise),
        lasting=_root(lasting),
        odd=_mean(parts.odd[own]),
        per_dimension=tuple(np.sqrt((off**2).mean(0)).tolist()),
        bias=tuple(off.mean(0).tolist()),
        kinematics={m: _mean([k[m] for k in moves]) for m in MEASURES},
    )


def _over_episodes(
    parts: Components, own: list[int], square: float, between: float | None
) -> tuple[float, float]:
    """The interval of a person's distance, over the episodes' numbers that it is the mean of.

    What lasts is among them where it counts; `between` is then the deviation from person to person
    of the judges' error in it, which all episodes of a person share.
    """
    each = parts.noise[own] if between is None else parts.noise[own] + parts.lasting[own]
    each = each[np.isfinite(each)]
    spread = np.hypot(parts.doubt(between is not None), between or 0.0)
    return uncertainty.of_groups(each, _mean(each) - square, float(spread))


def _root(square: float) -> float:
    """NaN of NaN, and 0 of what is below it by chance."""
    return float(np.sqrt(np.maximum(square, 0.0)))


def _kinematics(demos: Demonstrations, actions: Sequence[Array]) -> list[dict[str, float]]:
    spread = demos.obs.std(0, dtype=np.float64)
    paths = [e.obs / np.where(spread > 0, spread, 1) for e in demos.episodes]
    steps = [np.linalg.norm(np.diff(p, axis=0), axis=1) for p in paths if len(p) > 1]
    usual = float(np.median(np.concatenate(steps))) if steps else 0.0
    return [kinematics(p, a, usual) for p, a in zip(paths, actions, strict=True)]


def _mean(values: Sequence[float] | Array) -> float:
    known = [v for v in values if not np.isnan(v)]
    return float(np.mean(known)) if known else np.nan
