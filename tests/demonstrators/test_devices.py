"""Keyboards, joysticks and wrong buttons."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterbc.demonstrators import (
    Fatigue,
    Joystick,
    Keyboard,
    Teacher,
    WrongButtons,
)
from counterbc.errors import OptionError
from tests.demonstrators.playback import (
    play,
    play_one,
)


@pytest.mark.parametrize(
    ("teacher", "intention", "action"),
    [
        (Keyboard(0.3), (0.3, 0.31, -0.31, 0.0, 2.0), (0.0, 1.0, -1.0, 0.0, 1.0)),
        (Joystick(4, 0.1), (0.1, 0.13, 0.3, 0.4, -0.9, 1.7), (0.0, 0.25, 0.25, 0.5, -1.0, 1.0)),
        (WrongButtons(flip=1.0), (0.3, -0.2), (-0.3, 0.2)),
        (WrongButtons(swap=1.0), (0.3, -0.2), (0.3, -0.2)),
        # Releasing the key errs by −0.4; of four steps each errs a quarter more.
        (Fatigue(Keyboard(0.5), during=1.0), (0.4,) * 4, (0.0, -0.1, -0.2, -0.3)),
        (Fatigue(Keyboard(0.5), during=9.0), (0.4,) * 4, (0.0, -0.9, -1.0, -1.0)),
    ],
)
def test_what_a_device_shows_computed_by_hand(
    teacher: Teacher, intention: tuple[float, ...], action: tuple[float, ...]
) -> None:
    np.testing.assert_allclose(play_one(teacher, *intention), action, atol=1e-12)


def test_wrong_buttons_swap_neighbours_or_flip_one() -> None:
    intention = np.broadcast_to([0.1, 0.2, 0.3], (1, 30_000, 3))
    rows = play(WrongButtons(swap=0.2, flip=0.3), intention)[0]
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    share = {tuple(k): c / len(rows) for k, c in zip(kinds.tolist(), counts, strict=True)}
    swaps = [(0.2, 0.1, 0.3), (0.1, 0.3, 0.2), (0.3, 0.2, 0.1)]
    flips = [(-0.1, 0.2, 0.3), (0.1, -0.2, 0.3), (0.1, 0.2, -0.3)]
    assert share.pop((0.1, 0.2, 0.3)) == pytest.approx(0.5, abs=0.01)
    action = {s: 0.2 / 3 for s in swaps} | {f: 0.1 for f in flips}
    assert share == pytest.approx(action, abs=0.01)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Keyboard(1.0), "threshold of Keyboard is 1.0; allowed: 0 to below 1"),
        (lambda: Joystick(levels=0), "levels of Joystick is 0; allowed: 1 or more"),
        (lambda: Joystick(dead_zone=-0.1), "dead_zone of Joystick is -0.1; allowed: 0 to below 1"),
        (lambda: WrongButtons(0.7, 0.4), "flip of WrongButtons is 0.4; allowed: 0 to 0.3"),
    ],
)
def test_impossible_parameters_are_refused(make: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        make()
