"""The pairs of episodes in which intents are searched, and the features of their states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.dimensions import dims_of
from counterbc.diagnosis.intent_ends import EndData
from counterbc.diagnosis.intent_laws import IntentSearch

_ROWS = 500  # observations that decide the principal components


def standardized_states(demos: Demonstrations, angles: Sequence[str]) -> Array:
    """Return standardized observations of all pairs, angles as cosine and sine: (N, S)."""
    obs = demos.obs.astype(np.float64)
    is_angle = np.isin(np.arange(obs.shape[1]), dims_of(demos, angles))
    turns = obs[:, is_angle]
    return _standardize(np.concatenate([obs[:, ~is_angle], np.cos(turns), np.sin(turns)], axis=1))


def features_and_targets(
    demos: Demonstrations, states: Array, seed: int, search: IntentSearch
) -> tuple[Array, Array]:
    """Return φ(s_t) and y_t of some pairs of every episode: (E, n, D), (E, n, Y)."""
    s = _reduce(states, search.dimensions)
    rng = np.random.default_rng(seed)
    frequency = search.width * rng.normal(size=(s.shape[1], search.features))
    phase = rng.uniform(0, 2 * np.pi, search.features)
    height = 3 / np.sqrt(max(search.features, 1) / 2)
    rows, ends = _rows(demos, search)
    s_t = s[rows]  # (E, n, S)
    waves = height * np.cos(s_t @ frequency + phase)
    x = np.concatenate([np.ones((*rows.shape, 1)), s_t, waves], axis=2)
    s_end = np.repeat(s[ends][:, None], rows.shape[1], axis=1)
    return x, _standardize(np.concatenate([demos.action[rows], s_end], axis=2))


def end_data(
    demos: Demonstrations,
    states: Array,
    y: Array,
    search: IntentSearch,
    operators: tuple[str | None, ...],
) -> EndData:
    """Return final states, and some pairs in as many dimensions as the episodes allow."""
    rows, ends = _rows(demos, search)
    few = _reduce(states, min(search.dimensions, max(len(demos) // 4, 2)))
    return EndData(
        ends=states[ends],
        states=few[rows],
        actions=y[..., : demos.action_size],
        operators=operators,
    )


def _rows(demos: Demonstrations, search: IntentSearch) -> tuple[Array, Array]:
    """Return the pairs that are read of each episode, evenly spread (E, n), and its last (E,)."""
    lengths, stops = demos.lengths, np.cumsum(demos.lengths)
    kinds, kind = np.unique(lengths, return_inverse=True)
    steps = np.array([np.linspace(0, n - 1, search.pairs).round() for n in kinds]).astype(int)
    return (stops - lengths)[:, None] + steps[kind], stops - 1


def _reduce(values: Array, dimensions: int) -> Array:
    """Return the first principal components of values (N, S), standardized, if S is larger."""
    if values.shape[1] <= dimensions:
        return values
    rows = np.linspace(0, len(values) - 1, min(len(values), _ROWS)).round().astype(int)
    axes = np.linalg.svd(values[rows], full_matrices=False)[2]  # (min(rows, S), S)
    return _standardize(values @ axes[:dimensions].T)


def _standardize(values: Array) -> Array:
    flat = values.reshape(-1, values.shape[-1])
    scale = flat.std(0)
    return np.asarray((values - flat.mean(0)) / np.where(scale > 1e-9, scale, 1.0))
