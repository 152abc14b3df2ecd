"""Acting late, and lapses of attention."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from counterbc.demonstrators import (
    Delay,
    Lapses,
    Teacher,
)
from counterbc.errors import OptionError
from tests.demonstrators.playback import make_batch, play, play_one, random_intentions


@pytest.mark.parametrize(
    ("teacher", "intention", "action"),
    [
        (Delay(0), (1.0, 0.5, 0.0), (1.0, 0.5, 0.0)),
        (Delay(0.1), (1.0, 0.5, 0.0, -0.5), (0.0, 1.0, 0.5, 0.0)),
        (Delay(0.2), (1.0, 0.5, 0.0, -0.5), (0.0, 0.0, 1.0, 0.5)),
        (Delay(0.15), (1.0, 0.5, 0.0, -0.5), (0.0, 0.5, 0.75, 0.25)),
        (Delay(steps=1.5), (1.0, 0.5, 0.0, -0.5), (0.0, 0.5, 0.75, 0.25)),
        (Delay(0.1, steps=0.5), (1.0, 0.5, 0.0, -0.5), (0.0, 0.5, 0.75, 0.25)),
        (Lapses(1.0), (0.3, -0.2), (0.0, 0.0)),
    ],
)
def test_what_a_late_or_absent_hand_shows_computed_by_hand(
    teacher: Teacher, intention: tuple[float, ...], action: tuple[float, ...]
) -> None:
    np.testing.assert_allclose(play_one(teacher, *intention), action, atol=1e-12)


@pytest.mark.parametrize(
    ("seconds", "rate", "steps"),
    [(0.2, 50, 10), (0.2, 20, 4), (0.29, 100, 29), (0.07, 100, 7), (0.15, 10, 1.5)],
)
def test_a_delay_in_seconds_is_as_many_steps_as_the_world_takes_in_them(
    seconds: float, rate: float, steps: float
) -> None:
    intention = random_intentions(3, steps=40)
    late = play(Delay(seconds), intention, replace(make_batch(3, steps=40), rate=rate))
    np.testing.assert_array_equal(late, play(Delay(steps=steps), intention))
    if steps == int(steps):  # and no mixture of neighbouring steps
        np.testing.assert_array_equal(late[int(steps) :], intention[: -int(steps)])


@pytest.mark.parametrize("holds", [True, False])
def test_a_lapse_holds_the_last_action_or_drops_it(holds: bool) -> None:
    intention = np.broadcast_to(np.arange(1, 401)[:, None, None] / 500, (400, 300, 1))
    actions = play(Lapses(0.2, longest=3, holds=holds), intention)
    is_lapse = actions != intention
    last = np.concatenate([np.zeros((1, 300, 1)), actions[:-1]])
    np.testing.assert_array_equal(actions[is_lapse], last[is_lapse] if holds else 0.0)
    # Four attentive steps on average, then a lapse of two.
    assert is_lapse[50:].mean() == pytest.approx(1 / 3, abs=0.01)


def test_a_lapse_lasts_one_to_its_longest_number_of_steps() -> None:
    # So rare that two lapses in a row are not among these.
    intention = np.broadcast_to(np.arange(1, 101)[:, None, None] / 100, (100, 4000, 1))
    is_lapse = (play(Lapses(0.0005, longest=3), intention) != intention)[:, :, 0]
    lengths = is_lapse.sum(axis=0)[is_lapse[:-3].any(axis=0) & ~is_lapse[-3:].any(axis=0)]
    share = np.bincount(lengths, minlength=4)[:4] / len(lengths)
    np.testing.assert_allclose(share, [0, 1 / 3, 1 / 3, 1 / 3], atol=0.12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Delay(-1), "seconds of Delay is -1; allowed: 0 or more"),
        (lambda: Delay(float("nan")), "seconds of Delay is nan; allowed: 0 or more"),
        (lambda: Delay(steps=-1), "steps of Delay is -1; allowed: 0 or more"),
        (lambda: Lapses(1.5), "probability of Lapses is 1.5; allowed: 0 to 1"),
        (lambda: Lapses(0.5, longest=0), "longest of Lapses is 0; allowed: 1 or more"),
    ],
)
def test_impossible_parameters_are_refused(make: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        make()
