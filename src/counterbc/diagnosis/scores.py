"""One score per episode and per operator: how far demonstrated actions are from predicted ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.diagnosis import uncertainty
from counterbc.diagnosis.components import Components, by_episode, known_by_episode
from counterbc.diagnosis.equal_lengths import equal_lengths
from counterbc.diagnosis.kinematics import MEASURES, all_kinematics, paths

_LEAST_EPISODES = 4  # more are needed for a correlation
_LEAST = 0.001  # of a distance that is printed
_KEYS = {"persistent": "lasting"}  # fields that have another key in JSON, as in files of results


@dataclass(frozen=True)
class Score:
    """The score of an episode or an operator; each action dimension spans [−1, 1]."""

    name: str
    operator: str | None
    episodes: int
    pairs: int
    distance: float
    """Root mean square over pairs of ‖demonstrated − predicted‖, without the model error; larger is
    worse. √(noise² + persistent²) for an operator with several episodes."""
    low: float
    """The lower end of its 90 % interval; NaN if there are too few pairs or episodes."""
    high: float
    noise: float
    """The part of the distance that is new at every step."""
    persistent: float
    """The part that persists from one step to the next; for an operator with several episodes 0 if
    sampling error can explain it."""
    odd: float
    """How far the worse part is above the dataset's usual, in robust standard deviations; for an
    operator the mean over episodes."""
    per_dimension: tuple[float, ...]
    """Root mean square of each action dimension, including the model error."""
    bias: tuple[float, ...]
    """Mean of demonstrated − predicted: a demonstrator who always errs to one side."""
    kinematics: dict[str, float]
    """Measures of `counterbc.diagnosis.kinematics`; for an operator the mean over episodes."""

    def as_dict(self) -> dict[str, Any]:
        """Return the score as JSON values, under the keys of files of results."""
        values = vars(self) | {"kinematics": dict(self.kinematics)}
        return {_KEYS.get(name, name): value for name, value in values.items()}

    @property
    def amount(self) -> str:
        """The distance as text; where it is 0, the upper end of what it may be."""
        if self.distance > 0 or np.isnan(self.distance):
            return amount_text(self.distance)
        return f"< {max(self.high, _LEAST):.3f}" if self.high > 0 else "not clear"

    @property
    def components(self) -> tuple[str, str]:
        """Noise and persistent part as text; a dash where one does not exceed the model error."""
        noise, persistent = (
            amount_text(part) if part > 0 else "–" for part in (self.noise, self.persistent)
        )
        return noise, persistent

    @property
    def interval(self) -> str:
        """The 90 % interval as text; empty if there is none."""
        return "" if np.isnan(self.low) else f"[{self.low:.3f}, {self.high:.3f}]"


def amount_text(value: float) -> str:
    """Return a distance with three decimals, or its bound where these would be zeros."""
    return f"< {_LEAST:.3f}" if 0 < value < _LEAST / 2 else f"{value:.3f}"


def episode_scores(demos: Demonstrations, residual: Array, action: Array) -> tuple[Score, ...]:
    """Return the score of each episode from residuals and scaled actions, (N, A) each.

    Pairs whose residual is NaN do not count.
    """
    residuals = known_by_episode(demos, residual)
    c, columns = Components.of(residuals), _series(residuals)
    scaled, typical_step = paths(demos)
    measures = all_kinematics(scaled, by_episode(demos, action), typical_step)
    square = columns["total"] - c.model_error - c.quick_model_error
    ends = np.full((2, len(residuals)), np.nan)
    for episodes, r in equal_lengths(residuals):
        less = (columns["total"] - square)[episodes]
        ends[:, episodes] = uncertainty.of_each_series((r**2).sum(2), less, c.spread)
    columns |= {"distance": _roots(square), "low": ends[0], "high": ends[1], "odd": c.oddness}
    columns |= {"noise": _roots(c.noise - c.quick_model_error)}
    columns |= {"persistent": _roots(c.persistent - c.model_error)}
    lists = {name: values.tolist() for name, values in columns.items()}
    rows = np.stack([measures[m] for m in MEASURES], axis=1).tolist()  # (E, measures)
    return tuple(
        Score(
            name=e.name,
            operator=e.operator,
            episodes=1,
            pairs=len(residuals[i]),
            distance=lists["distance"][i],
            low=lists["low"][i],
            high=lists["high"][i],
            noise=lists["noise"][i],
            persistent=lists["persistent"][i],
            odd=lists["odd"][i],
            per_dimension=tuple(lists["per_dimension"][i]),
            bias=tuple(lists["bias"][i]),
            kinematics=dict(zip(MEASURES, rows[i], strict=True)),
        )
        for i, e in enumerate(demos.episodes)
    )


def _series(residuals: Sequence[Array]) -> dict[str, Array]:
    """Return the mean square, and of each action dimension its root and the mean: (E,), (E, A)."""
    episodes, size = len(residuals), residuals[0].shape[1]
    total = np.full(episodes, np.nan)
    per_dimension, bias = np.full((2, episodes, size), np.nan)
    for indices, r in equal_lengths(residuals):
        total[indices] = (r**2).sum(2).mean(1)
        per_dimension[indices] = np.sqrt((r**2).mean(1))
        bias[indices] = r.mean(1)
    return {"total": total, "per_dimension": per_dimension, "bias": bias}


def operator_scores(
    demos: Demonstrations, residual: Array, episodes: Sequence[Score]
) -> tuple[Score, ...]:
    """Return the score of each operator in order of first appearance; none if none is recorded."""
    residuals, scores = known_by_episode(demos, residual), []
    components = Components.of(residuals)
    operators = {
        name: [i for i, e in enumerate(demos.episodes) if e.operator == name]
        for name in demos.operators
    }
    between = components.between(list(operators.values()))
    for name, indices in operators.items():
        measures = [episodes[i].kinematics for i in indices]
        subset = [residuals[i] for i in indices]
        score = _score(demos.episodes[indices[0]], subset, components, indices, measures, between)
        scores.append(replace(score, name=name))
    return tuple(scores)


@dataclass(frozen=True)
class Correlation:
    """A rank correlation over episodes with its 90 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"


def correlations(episodes: Sequence[Score]) -> dict[str, Correlation]:
    """Return the rank correlation of the distance with speed and with length, where both vary.

    The interval is Fisher's. It takes episodes as independent, so it is too short if a few
    operators differ.
    """
    found = {}
    for measure in ("speed", "length"):
        rows = [(s.distance, s.kinematics[measure]) for s in episodes]
        pairs = np.array([r for r in rows if np.isfinite(r).all()])
        if len(pairs) > _LEAST_EPISODES and (np.ptp(pairs, axis=0) > 0).all():
            rho = float(stats.spearmanr(*pairs.T).statistic)
            half = stats.norm.ppf((1 + uncertainty.LEVEL) / 2) / np.sqrt(len(pairs) - 3)
            middle = np.arctanh(np.clip(rho, -0.999, 0.999))
            low, high = np.tanh([middle - half, middle + half])
            found[measure] = Correlation(rho, float(low), float(high))
    return found


def _score(
    episode: Episode,
    residuals: list[Array],
    components: Components,
    indices: list[int],
    measures: list[dict[str, float]],
    between: float = 0.0,
) -> Score:
    """Return the score of the episodes at `indices`, with the names of one of them."""
    residual = np.concatenate(residuals)  # (n, A)
    count = len(residual)
    if not count:
        residual = np.full((1, residual.shape[1]), np.nan)
    c, total = components, float((residual**2).sum(1).mean())
    noise = _mean(c.noise[indices]) - c.quick_model_error
    square = total - c.model_error - c.quick_model_error
    persistent_square = _mean(c.persistent[indices]) - c.model_error
    if len(indices) > 1 and np.isfinite(noise):
        persistent_square = c.excess(indices)
        square = max(noise, 0.0) + persistent_square
    if len(indices) > 1:
        low, high = _over_episodes(c, indices, square, between if persistent_square > 0 else None)
    else:
        low, high = uncertainty.of_series((residual**2).sum(1), total - square, c.spread)
    return Score(
        name=episode.name,
        operator=episode.operator,
        episodes=len(residuals),
        pairs=count,
        distance=_root(square),
        low=low,
        high=high,
        noise=_root(noise),
        persistent=_root(persistent_square),
        odd=_mean(c.oddness[indices]),
        per_dimension=tuple(np.sqrt((residual**2).mean(0)).tolist()),
        bias=tuple(residual.mean(0).tolist()),
        kinematics={m: _mean([k[m] for k in measures]) for m in MEASURES},
    )


def _over_episodes(
    components: Components, indices: list[int], square: float, between: float | None
) -> tuple[float, float]:
    """Return the interval of an operator's distance over the mean squares of its episodes.

    They include the persistent part if `between` is given: the standard deviation of the model
    error between operators, which all episodes of an operator share.
    """
    noise, persistent = components.noise[indices], components.persistent[indices]
    squares = noise if between is None else noise + persistent
    squares = squares[np.isfinite(squares)]
    spread = np.hypot(components.standard_error(between is not None), between or 0.0)
    return uncertainty.of_groups(squares, _mean(squares) - square, float(spread))


def _roots(squares: Array) -> Array:
    """Return the roots; 0 for numbers below 0, NaN for NaN."""
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _root(square: float) -> float:
    """Return the root; 0 for numbers below 0, NaN for NaN."""
    return float(np.sqrt(np.maximum(square, 0.0)))


def _mean(values: Sequence[float] | Array) -> float:
    """Return the mean without NaN; NaN if nothing else is there."""
    numbers = [v for v in values if not np.isnan(v)]
    return float(np.mean(numbers)) if numbers else np.nan
