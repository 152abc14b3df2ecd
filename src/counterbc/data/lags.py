"""Lags: how late demonstrators react, and the action that each state was answered with.

A demonstrator who reacts k steps late shows the action meant for s_t at step t + k. With a lag of k
the pair of s_t is (s_t, a_(t+k)); a fraction interpolates between two neighbouring actions. The
last k steps of an episode have no such action.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import DataError, OptionError, unknown

Lag = float | str | Sequence[float | str]
NONE = (0.0,)
"""The lag of demonstrators who are not late."""
LEAST_SHARE = 0.1
"""Share of the pairs that a lag must leave to learn from."""
_SECONDS = re.compile(r"\s*([0-9.eE+-]+)\s*s\s*")


def lag_of(lag: Lag, demos: Demonstrations) -> tuple[float, ...]:
    """Return a lag in steps: one for everybody, or one per operator of the dataset.

    A text such as "0.2s" is a lag in seconds, for data that have a rate, and "ann=0.2s" that of one
    operator, in any order.
    """
    items = _in_order(lag_items(lag), demos)
    values = [_steps(item, demos) if isinstance(item, str) else item for item in items]
    if not all(np.isfinite(v) and v >= 0 for v in values):
        raise OptionError(f"lag is {lag}; it must be 0 or more: nobody acts before they see")
    if len(values) > 1 and (len(values) != len(demos.operators) or not _all_labelled(demos)):
        raise OptionError(
            f"{len(values)} lags for {len(demos.operators)} operators; give one for all, or one "
            "for each operator of data in which every episode names its operator"
        )
    return NONE if not any(values) else tuple(map(float, values))


def lag_items(lag: Lag) -> tuple[float | str, ...]:
    """Return one lag, or several, as a tuple."""
    return tuple(lag) if isinstance(lag, Sequence) and not isinstance(lag, str) else (lag,)


def lag_number(text: str) -> tuple[float, bool]:
    """Return the number in a text such as "3", "0.2s" or "ann=0.2s", and whether it is seconds."""
    number = text.rpartition("=")[2]
    match = _SECONDS.fullmatch(number)
    try:
        return float(match[1] if match else number), match is not None
    except ValueError:
        raise OptionError(
            f"lag is {text!r}; give steps such as 3, or seconds such as 0.2s"
        ) from None


def typed_lag(lag: tuple[float, ...], operators: Sequence[str]) -> tuple[float | str, ...]:
    """Return a lag in steps as `lag_of` reads it, with the name of each of several operators."""
    if len(lag) == 1:
        return lag
    names = zip(operators, lag, strict=True)
    return tuple(f"{name}={str(steps).removesuffix('.0')}" for name, steps in names)


def lags_among(
    lag: tuple[float, ...], known: Demonstrations, demos: Demonstrations
) -> tuple[float, ...]:
    """Return the lags of a dataset's operators as another dataset has them; the mean for others."""
    if len(lag) == 1:
        return lag
    by_name, mean = dict(zip(known.operators, lag, strict=True)), float(np.mean(lag))
    return tuple(by_name.get(name, mean) for name in demos.operators)


def lag_text(lag: Sequence[float], rate: float | None = None) -> str:
    """Return lags in words: in seconds and steps where the data have a rate, else in steps."""
    values = lag[:1] if len(set(lag)) == 1 else lag
    steps = "/".join(f"{v:g}" for v in values) + (" step" if steps_are_one(values) else " steps")
    if rate is None:
        return steps
    return f"{'/'.join(f'{v / rate:.3g}' for v in values)} s ({steps})"


def steps_are_one(values: Sequence[float]) -> bool:
    """Return whether the noun after these numbers is singular."""
    return len(values) == 1 and values[0] == 1


def undo_lag(
    demos: Demonstrations, lag: Sequence[float], values: Array | None = None
) -> tuple[Array, Array]:
    """Return the action a_(t+k) of every pair, (N, A), and whether its episode has one, (N,).

    Pairs without one keep their own action. `values` (N, A) take the place of the actions.
    """
    action = demos.action if values is None else values
    low, high, share = _targets(demos, lag)
    inside = high <= _ends(demos)
    low, high = (np.where(inside, x, np.arange(len(action))) for x in (low, high))
    late = (1 - share[:, None]) * action[low] + share[:, None] * action[high]
    return np.where(share[:, None] > 0, late, action[low]).astype(action.dtype), inside


def answer_states(demos: Demonstrations, lag: Sequence[float]) -> Demonstrations:
    """Return the demonstrations with the action a_(t+k) at s_t, for a lag of k.

    The last k pairs of an episode keep their own action and are not learned from.
    """
    if not any(lag):
        return demos
    selected = lagged_pairs(demos, demos.learned, lag)
    return replace(with_actions(demos, undo_lag(demos, lag)[0]), selected=selected)


def answered_pairs(
    demos: Demonstrations, lag: Sequence[float]
) -> tuple[Demonstrations, Demonstrations]:
    """Return the pairs (s_t, a_(t+k)), and (s_t, a_t) with the recorded action of the same states.

    For a lag of k, the last k pairs of an episode are left out, and episodes that have no more.
    Other pairs are there whether selected or not.
    """
    demos = replace(demos, selected=None)
    if not any(lag):
        return demos, demos
    action, inside = undo_lag(demos, lag)
    counts = np.add.reduceat(inside, np.unique(demos.starts), dtype=int).tolist()
    if not any(counts):
        raise DataError(f"no episode is longer than a lag of {lag_text(lag)}; give a smaller lag")

    def shorten(data: Demonstrations) -> Demonstrations:
        rows = zip(data.episodes, counts, strict=True)
        return replace(data, episodes=tuple(e.rows(slice(n)) for e, n in rows if n))

    return shorten(with_actions(demos, action)), shorten(demos)


def with_actions(demos: Demonstrations, action: Array) -> Demonstrations:
    """Return the demonstrations with other actions (N, A)."""
    actions = np.split(action, np.cumsum([len(e) for e in demos.episodes])[:-1])
    pairs = zip(demos.episodes, actions, strict=True)
    return replace(demos, episodes=tuple(replace(e, action=a) for e, a in pairs))


def lagged_pairs(demos: Demonstrations, actions: Array, lag: Sequence[float]) -> Array:
    """Return the pairs (t,) whose action a_(t+k) is among these actions, given by index.

    Labels that are not among them are never read, such as those of pairs that were not sampled.
    """
    if not any(lag):
        return actions
    low, high, _ = _targets(demos, lag)
    ends, listed = _ends(demos), np.zeros(len(low) + 1, bool)
    listed[actions] = True
    outside = high > ends
    low, high = (np.where(outside, len(ends), x) for x in (low, high))
    pairs = np.flatnonzero(listed[low] & listed[high])
    if len(pairs) < LEAST_SHARE * len(actions):
        longest = max(len(e) for e in demos.episodes)
        rest = f"{len(pairs)} of {len(actions)} pairs" if len(pairs) else "no pair"
        raise DataError(
            f"a lag of {lag_text(lag)} leaves {rest} to learn from: the longest episode has "
            f"{longest} steps; give a smaller lag"
        )
    return pairs


def answers(demos: Demonstrations, states: Array, lag: Sequence[float]) -> Array:
    """Return the actions that answer these states, two for each state where a lag is fractional."""
    low, high, _ = _targets(demos, lag)
    return np.union1d(low[states], high[states])


def answered_states(demos: Demonstrations, lag: Sequence[float]) -> tuple[Array, Array, Array]:
    """Return the two neighbouring steps of t − k, later one first, and the share of the earlier.

    These are the states that the action of step t answers: (N,) each. Those before the start of
    the episode do not exist.
    """
    share, whole = np.modf(_by_pair(demos, lag))
    later = np.arange(len(whole)) - whole.astype(int)
    return later, later - (share > 0), share


def _in_order(items: tuple[float | str, ...], demos: Demonstrations) -> tuple[float | str, ...]:
    """Return lags in the order of the operators that they name; all of them or none are named."""
    by_name = {str(item).rpartition("=")[0]: item for item in items if "=" in str(item)}
    if not by_name:
        return items
    for name in by_name:
        if name not in demos.operators:
            raise unknown(
                "operator", name, demos.operators or ["none, as no operators are recorded"]
            )
    if len(items) != len(demos.operators) or len(by_name) != len(items):
        text = " ".join(map(str, items))
        raise OptionError(
            f"lag is {text}; give NAME=LAG once for each operator: {', '.join(demos.operators)}"
        )
    return tuple(by_name[name] for name in demos.operators)


def _steps(text: str, demos: Demonstrations) -> float:
    number, in_seconds = lag_number(text)
    if in_seconds and demos.rate is None:
        raise OptionError(
            f"lag is {text!r}, but the data have no rate to turn seconds into steps; give the lag "
            "in steps, such as 3"
        )
    return number * (demos.rate or 1.0) if in_seconds else number


def _all_labelled(demos: Demonstrations) -> bool:
    return all(e.operator is not None for e in demos.episodes)


def _targets(demos: Demonstrations, lag: Sequence[float]) -> tuple[Array, Array, Array]:
    """Return the two neighbouring steps of t + k, and the share of the later one: (N,) each."""
    share, whole = np.modf(_by_pair(demos, lag))
    low = np.arange(len(whole)) + whole.astype(int)
    return low, low + (share > 0), share


def _by_pair(demos: Demonstrations, lag: Sequence[float]) -> Array:
    """Return the lag of each pair's operator: (N,)."""
    lengths = [len(e) for e in demos.episodes]
    if len(lag) == 1:
        return np.full(sum(lengths), lag[0], float)
    index = {name: i for i, name in enumerate(demos.operators)}
    return np.repeat([lag[index[str(e.operator)]] for e in demos.episodes], lengths)


def _ends(demos: Demonstrations) -> Array:
    """Return the last pair of each pair's episode: (N,)."""
    lengths = np.array([len(e) for e in demos.episodes])
    return np.repeat(np.cumsum(lengths) - 1, lengths)
