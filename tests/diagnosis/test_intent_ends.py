"""Groups of episodes by their final states."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.diagnosis.intent_ends import (
    EndData,
    are_operators,
    could_tell,
    find_end_groups,
    group_ends,
    principal_ends,
)

Array = NDArray[Any]


def episodes(goals: int, size: int = 26, *, acts: bool = True, count: int = 51) -> EndData:
    """Final states around some goals; actions tell the goal, or nothing."""
    rng = np.random.default_rng(0)
    group = np.arange(count) % goals
    ends = 3 * rng.normal(size=(goals, size))[group] + 0.2 * rng.normal(size=(count, size))
    states = rng.normal(size=(count, 8, 3))
    actions = rng.normal(size=(count, 8, 2))
    if acts:
        actions += 2 * rng.normal(size=(goals, 2))[group][:, None]
    return EndData(ends, states, actions, (None,) * count)


def _find(data: EndData) -> int:
    return int(find_end_groups(data, 4, 4, seed=0).shares.shape[1])


@pytest.mark.parametrize("goals", [1, 2, 3])
def test_goals_in_26_dimensions_are_found_with_few_episodes(goals: int) -> None:
    data = episodes(goals)
    groups = find_end_groups(data, 4, 4, seed=0)
    assert groups.shares.shape[1] == goals
    pairs = set(
        zip(groups.shares.argmax(1).tolist(), (np.arange(51) % goals).tolist(), strict=True)
    )
    assert len(pairs) == goals


def test_ends_that_differ_without_different_actions_are_no_goals() -> None:
    assert _find(episodes(2)) == 2
    assert _find(episodes(2, acts=False)) == 1


def test_halves_of_one_wide_group_are_not_goals() -> None:
    data = episodes(1)
    wide = np.random.default_rng(1).uniform(-1, 1, (51, 1))
    data = replace(data, ends=np.concatenate([10 * wide, data.ends], axis=1))
    assert _find(data) == 1
    assert group_ends(data, 2, seed=0).distance < 8


def test_groups_of_operators_count_only_if_operators_of_a_group_end_closer() -> None:
    data = episodes(2, count=48)
    group = np.arange(48) % 2
    each = replace(data, operators=tuple(f"p{k}" for k in group))
    assert are_operators(each, group), "one operator each: a goal cannot be told from a habit"
    many = replace(data, operators=tuple(f"p{i % 6}" for i in range(48)))
    assert not are_operators(many, group), "three operators each, all near their group's goal"
    mixed = replace(data, operators=tuple(f"p{i // 2 % 3}" for i in range(48)))
    assert not are_operators(mixed, group), "everybody pursues both goals"
    far = data.ends.copy()
    far[np.arange(48) % 6 == 0] += 100
    assert are_operators(replace(many, ends=far), group), "one operator ends elsewhere anyway"


def test_there_are_as_many_components_as_the_number_of_episodes_allows() -> None:
    rng = np.random.default_rng(0)
    shapes = [principal_ends(rng.normal(size=(e, 26))).shape for e in (8, 24, 51, 400)]
    assert shapes == [(8, 1), (24, 3), (51, 6), (400, 8)]


def test_few_or_uncertain_episodes_cannot_tell() -> None:
    nothing = {1: np.zeros(50), 2: np.full(50, -0.3)}
    assert could_tell(nothing)
    assert not could_tell({1: np.zeros(10), 2: np.array([3.0, -3.0] * 5)})
    assert not could_tell({1: np.zeros(10)})


def test_other_final_states_are_assigned_to_the_same_groups() -> None:
    data = episodes(2, count=60)
    half = data.take(np.arange(40))
    groups = group_ends(half, 2, seed=0)
    np.testing.assert_array_equal(groups.shares_of(half.ends), groups.shares)
    everyone = groups.shares_of(data.ends).argmax(1)
    assert len(np.unique(everyone[40:])) == 2
    expected = group_ends(data, 2, seed=0).shares.argmax(1)
    assert (everyone == expected).all() or (everyone != expected).all()
