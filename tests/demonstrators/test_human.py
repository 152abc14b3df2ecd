"""People as chains of errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.demonstrators import (
    HUMAN_TEACHERS,
    Human,
)
from counterbc.errors import OptionError
from tests.demonstrators.playback import play, random_intentions


def test_someone_like_a_person_is_the_same_for_the_same_seed() -> None:
    novice = HUMAN_TEACHERS["novice"]
    assert isinstance(novice, Human)
    assert novice.someone_like(5, "a") == novice.someone_like(5, "a")
    assert novice.someone_like(5, "a") != novice.someone_like(6, "a")


def test_a_person_errs_by_the_chain_of_its_traits() -> None:
    novice = HUMAN_TEACHERS["novice"]
    assert isinstance(novice, Human)
    intention = random_intentions(20)
    np.testing.assert_array_equal(play(novice, intention), play(novice.chain, intention))
    kinds = [type(step).__name__ for step in novice.chain.steps]
    assert kinds == [
        "Delay", "Overshoot", "Bias", "Fatigue", "Keyboard", "WrongButtons", "Lapses"
    ]  # fmt: skip


def test_someone_like_a_person_has_traits_around_theirs() -> None:
    novice = HUMAN_TEACHERS["novice"]
    assert isinstance(novice, Human)
    people = [novice.someone_like(seed, str(seed)) for seed in range(50)]
    ratios = np.array([p.delay / novice.delay for p in people])
    assert 0.85 <= ratios.min() < 0.9
    assert 1.1 < ratios.max() <= 1.15
    ratios = np.array([p.overshoot / novice.overshoot for p in people])
    assert 0.6 <= ratios.min() < 0.7
    assert 1.3 < ratios.max() <= 1.4
    assert {type(p.device).__name__ for p in people} == {"Keyboard", "Joystick"}
    assert all(p.tiring == novice.tiring for p in people)


def test_impossible_traits_are_refused() -> None:
    novice = HUMAN_TEACHERS["novice"]
    assert isinstance(novice, Human)
    with pytest.raises(OptionError, match="seconds of Delay is -1; allowed: 0 or more"):
        replace(novice, delay=-1)
