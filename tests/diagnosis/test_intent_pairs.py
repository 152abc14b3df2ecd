"""The pairs in which intents are searched."""

from __future__ import annotations

import numpy as np

from counterbc import Demonstrations, Episode
from counterbc.diagnosis.intent_laws import IntentSearch
from counterbc.diagnosis.intent_pairs import end_data, features_and_targets, standardized_states


def line(*lengths: int) -> Demonstrations:
    """Episodes whose one observation counts all pairs, with its square beside it."""
    rows = np.split(np.arange(sum(lengths), dtype=np.float32), np.cumsum(lengths)[:-1])
    return Demonstrations(tuple(Episode(np.stack([t, t**2], 1), t[:, None]) for t in rows))


def test_states_of_all_pairs_are_standardized_once() -> None:
    states = standardized_states(line(3, 4), ())
    np.testing.assert_allclose(states.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(states.std(0), 1)


def test_pairs_are_evenly_spread_over_episodes_of_any_length() -> None:
    demos, search = line(5, 1, 9), IntentSearch(pairs=3, features=4)
    states = standardized_states(demos, ())
    x, y = features_and_targets(demos, states, 0, search)
    rows = [[0, 2, 4], [5, 5, 5], [6, 10, 14]]
    np.testing.assert_array_equal(x[..., 0], 1)
    np.testing.assert_array_equal(x[..., 1:3], states[rows])
    assert x.shape == (3, 3, 1 + 2 + 4)
    action = demos.action[rows].astype(np.float64)
    np.testing.assert_allclose(y[..., :1], (action - action.mean()) / action.std())
    last = states[[4, 5, 14]]
    np.testing.assert_allclose(y[:, 0, 1:], (last - last.mean(0)) / last.std(0))
    np.testing.assert_array_equal(y[:, 0, 1:], y[:, 2, 1:])


def test_final_states_are_those_of_the_last_pairs() -> None:
    demos, search = line(5, 1, 9), IntentSearch(pairs=3, features=4)
    states = standardized_states(demos, ())
    y = features_and_targets(demos, states, 0, search)[1]
    data = end_data(demos, states, y, search, ("ann", "bob", None))
    np.testing.assert_array_equal(data.ends, states[[4, 5, 14]])
    np.testing.assert_array_equal(data.actions, y[..., :1])
    few = data.take(np.array([2, 0]))
    assert few.operators == (None, "ann")
    np.testing.assert_array_equal(few.ends, states[[14, 4]])
