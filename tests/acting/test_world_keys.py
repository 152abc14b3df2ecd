"""Files may record more than their environment observes; policies read what it does observe."""

from __future__ import annotations

import pytest

from counterbc.acting.world_keys import keys_of_world
from counterbc.data.names import GOAL_KEY

PUSH_T = [("keypoints", 18), ("state", 5)]


@pytest.mark.parametrize("env", ["push-t", "gym_pusht/PushT-v0", "counterbc/PushT-v0"])
def test_what_an_environment_observes_is_chosen_by_each_of_its_names(env: str) -> None:
    assert keys_of_world(PUSH_T, env) == ("state",)


def test_a_goal_that_was_added_is_read_too() -> None:
    assert keys_of_world([*PUSH_T, (GOAL_KEY, 2)], "push-t") == ("state", GOAL_KEY)


@pytest.mark.parametrize("env", [None, "cartpole", "elsewhere/Reach-v0"])
def test_nothing_is_chosen_where_the_environment_says_nothing_about_keys(env: str | None) -> None:
    assert keys_of_world(PUSH_T, env) == ()


def test_nothing_is_chosen_from_data_without_other_keys_or_without_those_observed() -> None:
    assert keys_of_world([("state", 5)], "push-t") == ()
    assert keys_of_world([("keypoints", 18), ("pose", 3)], "push-t") == ()
