"""Unsteadiness, overshoot and bias."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterbc.demonstrators import (
    Bias,
    MotorNoise,
    Offset,
    Overshoot,
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
        # The excess is 0.5 · 0.4, half of it, then half again with 0.5 · −0.6.
        (Overshoot(0.5, 0.5), (0.4, 0.4, -0.2), (0.6, 0.5, -0.45)),
        (Overshoot(0.5, 0.0), (0.4, 0.4, -0.2), (0.6, 0.4, -0.5)),
        (Overshoot(0.5, 0.5), (0.9, -0.9), (1.0, -1.0)),
    ],
)
def test_overshoot_computed_by_hand(
    teacher: Teacher, intention: tuple[float, ...], action: tuple[float, ...]
) -> None:
    np.testing.assert_allclose(play_one(teacher, *intention), action, atol=1e-12)


def test_motor_noise_grows_with_the_action_and_remembers_the_step_before() -> None:
    intention = np.broadcast_to([0.0, 0.5], (6, 50_000, 2))
    error = play(MotorNoise(gain=0.1, floor=0.02, memory=0.7), intention) - intention
    np.testing.assert_allclose(error.std(axis=1), [[0.02, 0.07]] * 6, rtol=0.02)
    np.testing.assert_allclose(error.mean(axis=1), np.zeros((6, 2)), atol=0.002)
    for lag in (1, 2):
        assert np.corrcoef(error[0, :, 1], error[lag, :, 1])[0, 1] == pytest.approx(
            0.7**lag, abs=0.02
        )
    assert abs(np.corrcoef(error[3].T)[0, 1]) < 0.02


def test_a_bias_belongs_to_the_person_and_not_to_the_episode() -> None:
    intention = np.zeros((3, 5, 2))
    off = play(Bias(0.3, seed=4), intention)
    assert (off == off[0, 0]).all()
    assert (off != play(Bias(0.3, seed=5), intention)).all()
    many = np.array([play(Bias(0.3, seed), np.zeros((1, 1, 2))) for seed in range(300)])
    assert 0.29 < abs(many).max() < 0.3
    assert abs(many.mean()) < 0.03


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MotorNoise(-0.1), "gain of MotorNoise is -0.1; allowed: 0 or more"),
        (lambda: MotorNoise(0.1, memory=1.0), "memory of MotorNoise is 1.0; allowed: 0 to below 1"),
        (lambda: Overshoot(0.1, decay=1.0), "decay of Overshoot is 1.0; allowed: 0 to below 1"),
        (lambda: Bias(-0.1, 0), "most of Bias is -0.1; allowed: 0 or more"),
    ],
)
def test_impossible_parameters_are_refused(make: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        make()


def test_an_offset_is_added_to_every_action_also_beyond_the_bounds() -> None:
    shown_actions = play_one(Offset((0.3,)), 0.0, 0.5, 0.9)
    assert shown_actions == pytest.approx([0.3, 0.8, 1.2])
    assert str(Offset((0.3, -0.1))) == "offset 0.3/-0.1"


def test_an_offset_needs_a_finite_number_for_each_dimension() -> None:
    with pytest.raises(OptionError, match=r"offset of Offset is .*; allowed: finite numbers"):
        Offset((float("nan"),))
    with pytest.raises(OptionError, match="allowed: 1 numbers"):
        play_one(Offset((0.3, 0.1)), 0.0)
