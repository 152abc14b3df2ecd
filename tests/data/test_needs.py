"""Facts that weightings need."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.needs import check_needs, expert_pairs, need_labels, operator_names
from counterbc.errors import DataError


def test_operators_are_numbered_by_first_appearance(tiny: Demonstrations) -> None:
    swapped_demos = tiny.subset(episodes=[1])
    assert operator_names([swapped_demos, tiny]) == ("bob", "ada")


def test_expert_pairs_are_those_of_the_mask_among_the_selected(tiny: Demonstrations) -> None:
    some_pairs = replace(tiny, selected=np.array([0, 9, 10, 25]))
    assert expert_pairs(some_pairs).tolist() == [True, True, False, True]


def test_data_that_record_everything_pass(tiny: Demonstrations) -> None:
    check_needs([tiny], ("operators", "rewards", "expert"))


def test_missing_facts_are_named(tiny: Demonstrations) -> None:
    episodes = tuple(replace(e, operator=None, reward=None) for e in tiny.episodes)
    bare = replace(tiny, episodes=episodes, masks={})
    with pytest.raises(DataError, match=r"needs operators .* and rewards .* and an expert subset"):
        check_needs([tiny, bare], ("operators", "rewards", "expert"))
    with pytest.raises(DataError, match="needs weather, which these data do not record"):
        check_needs([tiny], ("weather",))


def test_labels_say_what_the_fingerprint_leaves_open(tiny: Demonstrations) -> None:
    other_mask = replace(tiny, masks={"expert": ("demo_1",)})
    assert tiny.fingerprint() == other_mask.fingerprint()
    first, second = (need_labels([d], ("expert",)) for d in (tiny, other_mask))
    assert [first["expert"][0]["pairs"], second["expert"][0]["pairs"]] == [20, 10]
    assert first != second
    assert need_labels([tiny], ("rewards",)) == {}
