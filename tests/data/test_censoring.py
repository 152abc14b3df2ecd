"""What recorded actions are, and which of them lie on a bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.data.censoring import bound_sides
from counterbc.errors import DataError
from tests.data.datasets import three_episodes


def test_an_action_within_rounding_of_a_bound_lies_on_it() -> None:
    low, high = np.array([[0, -5], [1, 5]], np.float32)
    rows = [[0, 5], [1, -5], [0.5, 0], [1e-7, 5 - 1e-6], [1e-4, 4.99], [-1, 6]]
    action = np.array(rows, np.float32)
    sides = [[-1, 1], [1, -1], [0, 0], [-1, 1], [0, 0], [0, 0]]
    assert bound_sides(action, low, high).tolist() == sides


def test_any_other_word_than_asked_and_taken_is_refused() -> None:
    with pytest.raises(DataError, match=r"actions_are is 'cut'; allowed: asked .*, taken .*None"):
        replace(three_episodes(), actions_are="cut")  # type: ignore[arg-type]  # the wrong word
    with pytest.raises(DataError, match=r"actions_are is \['taken'\]"):
        replace(three_episodes(), actions_are=["taken"])  # type: ignore[arg-type]  # a list


def test_subsets_keep_the_declaration_and_show_it() -> None:
    demos = replace(three_episodes(), actions_are="taken")
    for part in (demos.subset(operator="ann"), demos.sample_pairs(3, 0), demos.split(0.5, 0)[1]):
        assert part.actions_are == "taken"
    assert "recorded   actions taken" in repr(demos)
    assert "recorded" not in repr(three_episodes())
