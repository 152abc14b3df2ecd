"""Errors that grow within an episode and over episodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterbc.demonstrators import (
    Delay,
    EpisodeBatch,
    Fatigue,
    Keyboard,
    Teacher,
)
from counterbc.errors import OptionError
from tests.demonstrators.playback import (
    play,
    play_one,
)


@pytest.mark.parametrize(
    ("teacher", "intention", "action"),
    [
        # Releasing the key errs by −0.4; of four steps each errs a quarter more.
        (Fatigue(Keyboard(0.5), during=1.0), (0.4,) * 4, (0.0, -0.1, -0.2, -0.3)),
        (Fatigue(Keyboard(0.5), during=9.0), (0.4,) * 4, (0.0, -0.9, -1.0, -1.0)),
    ],
)
def test_growing_errors_computed_by_hand(
    teacher: Teacher, intention: tuple[float, ...], action: tuple[float, ...]
) -> None:
    np.testing.assert_allclose(play_one(teacher, *intention), action, atol=1e-12)


def test_errors_grow_over_the_episodes_of_a_teacher() -> None:
    teacher = Fatigue(Keyboard(0.5), after=2.0, episodes=4)
    batch = EpisodeBatch(np.zeros(4, int), np.array([0, 1, 4, 80]), size=1, steps=1, rate=10)
    # Errors of −0.4 times 1, 1.5, 3 and 3.
    first = play(teacher, np.full((1, 4, 1), 0.4), batch)[0, :, 0]
    np.testing.assert_allclose(first, [0.0, -0.2, -0.8, -0.8], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Fatigue(Delay(0.1), during=-1), "during of Fatigue is -1; allowed: 0 or more"),
        (lambda: Fatigue(Delay(0.1), episodes=0), "episodes of Fatigue is 0; allowed: 1 or more"),
    ],
)
def test_impossible_parameters_are_refused(make: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        make()
