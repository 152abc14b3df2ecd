"""Laws that hold for all teachers, and chains of them."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.demonstrators import (
    Bias,
    Chain,
    Delay,
    Fatigue,
    Keyboard,
    Lapses,
    MotorNoise,
    Overshoot,
    Teacher,
    UniformNoise,
    WrongButtons,
)
from tests.demonstrators.playback import (
    HUMAN_LIKE,
    NOISY,
    make_batch,
    play,
    play_one,
    random_intentions,
)


def test_the_steps_of_a_chain_err_in_the_order_given() -> None:
    hand, keys = Overshoot(0.5), Keyboard(0.4)
    np.testing.assert_allclose(play_one(Chain((hand, keys)), 0.3, 0.3), [1.0, 0.0])
    np.testing.assert_allclose(play_one(Chain((keys, hand)), 0.3, 0.3), [0.0, 0.0])
    late = Chain((Delay(steps=1), Chain((keys, Delay(steps=1)))))
    np.testing.assert_allclose(play_one(late, 0.5, 0.3, 0.3, 0.3), [0.0, 0.0, 1.0, 0.0])


def test_two_equal_steps_of_a_chain_draw_independently() -> None:
    intention = np.zeros((1, 50_000, 1))
    twice = play(Chain((UniformNoise(0.5), UniformNoise(0.5))), intention)
    # The same draw twice would have four times the variance of one, not two.
    assert twice.var() == pytest.approx(2 * 0.5**2 / 3, rel=0.03)


def test_an_empty_chain_shows_the_intended_actions() -> None:
    np.testing.assert_array_equal(play_one(Chain(()), 0.4, -3.0), [0.4, -3.0])
    assert str(Chain(())) == "no error"
    assert Chain(()).operator(0) is None


@pytest.mark.parametrize("teacher", HUMAN_LIKE + NOISY, ids=str)
def test_an_episode_alone_equals_the_same_episode_among_others(teacher: Teacher) -> None:
    batch, intention = make_batch(25), random_intentions(25)
    together = play(teacher, intention, batch)
    for i in (0, 11, 24):
        single = batch.select(np.array([i]), batch.number[[i]])
        np.testing.assert_array_equal(play(teacher, intention[:, [i]], single), together[:, [i]])


@pytest.mark.parametrize("teacher", HUMAN_LIKE, ids=str)
def test_human_like_teachers_err_but_stay_within_the_range_of_a_device(teacher: Teacher) -> None:
    intention = random_intentions(500)
    actions = play(teacher, intention)
    assert abs(actions).max() <= 1.0
    assert abs(actions - intention).max() > 0.05


@pytest.mark.parametrize("teacher", NOISY, ids=str)
def test_the_three_noises_are_not_cut_off(teacher: Teacher) -> None:
    assert abs(play(teacher, random_intentions(500))).max() > 1.1


@pytest.mark.parametrize(
    "teacher",
    [Delay(0), Lapses(0.0), MotorNoise(0.0, 0.0), Overshoot(0.0), Bias(0.0, 3), WrongButtons()],
    ids=str,
)
def test_a_teacher_without_an_error_shows_what_was_meant(teacher: Teacher) -> None:
    intention = random_intentions(50)
    np.testing.assert_array_equal(play(teacher, intention), intention)
    np.testing.assert_array_equal(play(Fatigue(teacher, during=3.0), intention), intention)


@pytest.mark.parametrize("teacher", HUMAN_LIKE + NOISY, ids=str)
def test_teachers_are_values(teacher: Teacher) -> None:
    assert len({teacher, teacher}) == 1
    assert Chain((teacher,)) == Chain((teacher,))
    assert "object at" not in str(teacher)
