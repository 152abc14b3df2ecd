"""The action that answers a state is shown later; labels outside a list are never read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.lags import (
    answered_pairs,
    answered_states,
    answers,
    lag_of,
    lag_text,
    lagged_pairs,
    lags_among,
    typed_lag,
    undo_lag,
)
from counterbc.errors import DataError, OptionError


def numbered(*lengths: int, operators: tuple[str | None, ...] = ()) -> Demonstrations:
    """Return episodes whose actions are 0, 10, 20, … over all episodes."""
    episodes, at = [], 0
    for i, n in enumerate(lengths):
        action = 10.0 * np.arange(at, at + n)[:, None]
        operator = operators[i] if operators else None
        episodes.append(Episode(obs=np.zeros((n, 1)), action=action, operator=operator))
        at += n
    return Demonstrations(tuple(episodes))


def test_a_whole_lag_takes_the_action_shown_later_and_never_that_of_another_episode() -> None:
    action, inside = undo_lag(numbered(3, 4), (2.0,))
    assert inside.tolist() == [True, False, False, True, True, False, False]
    assert action[inside].ravel().tolist() == [20, 50, 60]
    assert action[~inside].ravel().tolist() == [10, 20, 50, 60]  # their own


def test_a_fraction_interpolates_between_two_actions() -> None:
    action, inside = undo_lag(numbered(4), (1.25,))
    assert inside.tolist() == [True, True, False, False]
    assert action[inside].ravel().tolist() == [12.5, 22.5]


def test_other_values_of_the_pairs_are_moved_like_the_actions() -> None:
    flags = np.array([[1.0], [0.0], [0.0], [1.0]])
    moved, inside = undo_lag(numbered(4), (1.25,), flags)
    assert moved[inside].ravel().tolist() == [0.0, 0.25]


def test_no_lag_returns_the_actions_as_recorded() -> None:
    demos = numbered(3, 2)
    action, inside = undo_lag(demos, (0.0,))
    assert np.array_equal(action, demos.action)
    assert inside.all()
    actions = np.array([0, 3])
    assert lagged_pairs(demos, actions, (0.0,)) is actions


def test_operators_have_lags_of_their_own() -> None:
    demos = numbered(3, 3, operators=("ann", "bob"))
    action, inside = undo_lag(demos, (1.0, 2.0))
    assert inside.tolist() == [True, True, False, True, False, False]
    assert action[inside].ravel().tolist() == [10, 20, 50]


def test_labels_that_are_not_listed_are_never_read() -> None:
    demos = numbered(6)
    assert lagged_pairs(demos, np.array([1, 4]), (1.0,)).tolist() == [0, 3]
    assert lagged_pairs(demos, np.array([1, 2, 4]), (0.5,)).tolist() == [1]  # needs 1 and 2


def test_answered_pairs_lack_the_last_steps_and_the_episodes_that_have_no_more() -> None:
    demos = replace(numbered(4, 2, 3), selected=np.array([0]))
    answered, recorded = answered_pairs(demos, (1.5,))
    assert [len(e) for e in answered.episodes] == [2, 1]
    assert answered.action.ravel().tolist() == [15, 25, 75]
    assert recorded.action.ravel().tolist() == [0, 10, 60]
    assert answered.selected is None
    assert all(d.pairs == 9 for d in answered_pairs(demos, (0.0,)))
    with pytest.raises(DataError, match="no episode is longer than a lag of 4 steps"):
        answered_pairs(demos, (4.0,))


def test_answered_states_are_the_inverse_of_a_lag() -> None:
    later, earlier, share = answered_states(numbered(5), (1.25,))
    assert (later[3], earlier[3], share[3]) == (2, 1, 0.25)
    assert (later[0], earlier[0]) == (-1, -2)  # before the start


def test_a_lag_is_given_in_steps_or_in_seconds() -> None:
    demos = replace(numbered(3, 3, operators=("ann", "bob")), rate=20.0)
    assert lag_of(3, demos) == (3.0,)
    assert lag_of("3", demos) == (3.0,)
    assert lag_of("0.2s", demos) == (4.0,)
    assert lag_of((1, 2.5), demos) == (1.0, 2.5)
    assert lag_of((0, 0), demos) == (0.0,)
    assert lag_of(("0.1s", "0.2s"), demos) == (2.0, 4.0)
    assert lag_of(("bob=0.1s", "ann=0.5"), demos) == (0.5, 2.0)
    assert lag_text((4.0,), 20.0) == "0.2 s (4 steps)"
    assert lag_text((1.0, 2.5)) == "1/2.5 steps"


@pytest.mark.parametrize(
    ("lag", "message"),
    [
        (-1, "it must be 0 or more"),
        (float("nan"), "it must be 0 or more"),
        ("soon", "give steps such as 3, or seconds such as 0.2s"),
        ("0.2s", "the data have no rate"),
        ((1, 2, 3), "3 lags for 2 operators"),
        (("ann=1", "bbo=2"), "unknown operator 'bbo'; allowed: ann, bob; did you mean bob?"),
        ("ann=1", "lag is ann=1; give NAME=LAG once for each operator: ann, bob"),
        (("ann=1", 2.0), "lag is ann=1 2.0; give NAME=LAG once for each operator"),
        (("ann=1", "ann=2"), "lag is ann=1 ann=2; give NAME=LAG once for each operator"),
        (("ann=soon", "bob=1"), "lag is 'ann=soon'; give steps such as 3, or seconds"),
    ],
)
def test_a_wrong_lag_is_refused_in_one_sentence(lag: object, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        lag_of(lag, numbered(3, 3, operators=("ann", "bob")))  # type: ignore[arg-type]  # wrong


def test_one_lag_per_operator_needs_operators_in_every_episode() -> None:
    with pytest.raises(OptionError, match="every episode names its operator"):
        lag_of((1, 2), numbered(3, 3, 3, operators=("ann", "bob", None)))


def test_a_name_needs_operators() -> None:
    with pytest.raises(OptionError, match="unknown operator 'ann'; allowed: none, as no operators"):
        lag_of("ann=1", numbered(3, 3))


def test_a_lag_is_typed_as_it_is_read() -> None:
    demos = numbered(3, 3, operators=("ann = a", "bob"))
    for lag in ((0.1 + 0.2,), (3.0, 1 / 3)):
        assert lag_of(typed_lag(lag, demos.operators), demos) == lag
    assert typed_lag((3.0, 0.5), demos.operators) == ("ann = a=3", "bob=0.5")


def test_a_lag_longer_than_every_episode_is_refused() -> None:
    with pytest.raises(DataError, match=r"leaves no pair .* longest episode has 4 steps"):
        lagged_pairs(numbered(3, 4), np.arange(7), (4.0,))


def test_a_lag_that_leaves_few_pairs_is_refused() -> None:
    demos = numbered(*[3] * 5, 5)
    with pytest.raises(DataError, match=r"lag of 4 steps leaves 1 of 20 pairs to learn from"):
        lagged_pairs(demos, np.arange(20), (4.0,))
    assert len(lagged_pairs(demos, np.arange(20), (3.0,))) == 2


def test_the_answers_of_states_are_two_actions_where_the_lag_is_fractional() -> None:
    demos, states = numbered(6, 6, operators=("p", "q")), np.array([1, 7])
    assert answers(demos, states, (2.0,)).tolist() == [3, 9]
    assert answers(demos, states, (1.5, 2.0)).tolist() == [2, 3, 9]


def test_lags_of_operators_follow_their_names_into_another_dataset() -> None:
    known = numbered(3, 3, operators=("p", "q"))
    other = numbered(3, 3, 3, operators=("q", "r", "p"))
    assert lags_among((1.0, 4.0), known, other) == (4.0, 2.5, 1.0)
    assert lags_among((1.0, 4.0), known, numbered(3, operators=("q",))) == (4.0,)
    assert lags_among((2.0,), known, other) == (2.0,)
