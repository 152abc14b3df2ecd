"""The ways to err, on short sequences worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.demonstrators import (
    TEACHERS,
    Bias,
    Chain,
    Delay,
    EpisodeBatch,
    EpsilonGreedy,
    Fatigue,
    GaussianNoise,
    Joystick,
    Keyboard,
    Lapses,
    MotorNoise,
    Overshoot,
    Teacher,
    UniformNoise,
    WrongButtons,
)
from counterbc.errors import OptionError

HUMAN_LIKE: list[Teacher] = [
    Delay(1.5),
    Lapses(0.3),
    Lapses(0.3, holds=False),
    MotorNoise(0.3, 0.1, 0.6),
    Overshoot(0.8, 0.5),
    Bias(0.3, seed=4),
    Keyboard(),
    Joystick(),
    WrongButtons(swap=0.2, flip=0.2),
    Fatigue(MotorNoise(0.3), during=2.0, after=1.0),
    *TEACHERS.values(),
]
NOISES: list[Teacher] = [UniformNoise(0.5), GaussianNoise(0.5), EpsilonGreedy(0.5)]


def takes(episodes: int, size: int = 2, steps: int = 12) -> EpisodeBatch:
    return EpisodeBatch(np.arange(episodes) + 2**62, np.arange(episodes), size, steps)


def shown(teacher: Teacher, meant: NDArray[Any], of: EpisodeBatch | None = None) -> NDArray[Any]:
    """What is shown where (T, N, A) is meant."""
    steps, episodes, size = meant.shape
    show = teacher.begin(of or takes(episodes, size, steps))
    return np.stack([show(action, t) for t, action in enumerate(meant)])


def alone(teacher: Teacher, *meant: float) -> NDArray[Any]:
    """What one episode with one action dimension shows."""
    return shown(teacher, np.reshape(meant, (-1, 1, 1)))[:, 0, 0]


def meant_by(episodes: int, size: int = 2, steps: int = 12) -> NDArray[Any]:
    return np.random.default_rng(0).uniform(-1, 1, (steps, episodes, size))


@pytest.mark.parametrize(
    ("teacher", "meant", "expected"),
    [
        (Delay(0), (1.0, 0.5, 0.0), (1.0, 0.5, 0.0)),
        (Delay(1), (1.0, 0.5, 0.0, -0.5), (0.0, 1.0, 0.5, 0.0)),
        (Delay(2), (1.0, 0.5, 0.0, -0.5), (0.0, 0.0, 1.0, 0.5)),
        (Delay(1.5), (1.0, 0.5, 0.0, -0.5), (0.0, 0.5, 0.75, 0.25)),
        # The excess is 0.5 · 0.4, half of it, then half again with 0.5 · −0.6.
        (Overshoot(0.5, 0.5), (0.4, 0.4, -0.2), (0.6, 0.5, -0.45)),
        (Overshoot(0.5, 0.0), (0.4, 0.4, -0.2), (0.6, 0.4, -0.5)),
        (Overshoot(0.5, 0.5), (0.9, -0.9), (1.0, -1.0)),
        (Keyboard(0.3), (0.3, 0.31, -0.31, 0.0, 2.0), (0.0, 1.0, -1.0, 0.0, 1.0)),
        (Joystick(4, 0.1), (0.1, 0.13, 0.3, 0.4, -0.9, 1.7), (0.0, 0.25, 0.25, 0.5, -1.0, 1.0)),
        (WrongButtons(flip=1.0), (0.3, -0.2), (-0.3, 0.2)),
        (WrongButtons(swap=1.0), (0.3, -0.2), (0.3, -0.2)),
        (Lapses(1.0), (0.3, -0.2), (0.0, 0.0)),
        # Releasing the key errs by −0.4; of four steps each errs a quarter more.
        (Fatigue(Keyboard(0.5), during=1.0), (0.4,) * 4, (0.0, -0.1, -0.2, -0.3)),
        (Fatigue(Keyboard(0.5), during=9.0), (0.4,) * 4, (0.0, -0.9, -1.0, -1.0)),
        (Chain(()), (0.4, -3.0), (0.4, -3.0)),
    ],
)
def test_what_is_shown_was_worked_out_by_hand(
    teacher: Teacher, meant: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    np.testing.assert_allclose(alone(teacher, *meant), expected, atol=1e-12)


def test_parts_err_in_the_order_given() -> None:
    hand, keys = Overshoot(0.5), Keyboard(0.4)
    np.testing.assert_allclose(alone(Chain((hand, keys)), 0.3, 0.3), [1.0, 0.0])
    np.testing.assert_allclose(alone(Chain((keys, hand)), 0.3, 0.3), [0.0, 0.0])
    late = Chain((Delay(1), Chain((keys, Delay(1)))))
    np.testing.assert_allclose(alone(late, 0.5, 0.3, 0.3, 0.3), [0.0, 0.0, 1.0, 0.0])


def test_two_like_parts_of_a_chain_draw_independently() -> None:
    meant = np.zeros((1, 50_000, 1))
    twice = shown(Chain((UniformNoise(0.5), UniformNoise(0.5))), meant)
    # The same draw twice would have four times the variance of one, not two.
    assert twice.var() == pytest.approx(2 * 0.5**2 / 3, rel=0.03)


def test_errors_grow_over_the_episodes_of_a_teacher() -> None:
    teacher = Fatigue(Keyboard(0.5), after=2.0, episodes=4)
    of = EpisodeBatch(np.zeros(4, int), np.array([0, 1, 4, 80]), size=1, steps=1)
    # Errors of −0.4 times 1, 1.5, 3 and 3.
    first = shown(teacher, np.full((1, 4, 1), 0.4), of)[0, :, 0]
    np.testing.assert_allclose(first, [0.0, -0.2, -0.8, -0.8], atol=1e-12)


def test_motor_noise_grows_with_the_action_and_remembers_the_step_before() -> None:
    meant = np.broadcast_to([0.0, 0.5], (6, 50_000, 2))
    error = shown(MotorNoise(gain=0.1, floor=0.02, memory=0.7), meant) - meant
    np.testing.assert_allclose(error.std(axis=1), [[0.02, 0.07]] * 6, rtol=0.02)
    np.testing.assert_allclose(error.mean(axis=1), np.zeros((6, 2)), atol=0.002)
    for lag in (1, 2):
        assert np.corrcoef(error[0, :, 1], error[lag, :, 1])[0, 1] == pytest.approx(
            0.7**lag, abs=0.02
        )
    assert abs(np.corrcoef(error[3].T)[0, 1]) < 0.02


@pytest.mark.parametrize("holds", [True, False])
def test_a_lapse_holds_the_last_action_or_drops_it(holds: bool) -> None:
    meant = np.broadcast_to(np.arange(1, 401)[:, None, None] / 500, (400, 300, 1))
    seen = shown(Lapses(0.2, longest=3, holds=holds), meant)
    lost = seen != meant
    last = np.concatenate([np.zeros((1, 300, 1)), seen[:-1]])
    np.testing.assert_array_equal(seen[lost], last[lost] if holds else 0.0)
    # Four attentive steps on average, then a lapse of two.
    assert lost[50:].mean() == pytest.approx(1 / 3, abs=0.01)


def test_a_lapse_lasts_one_to_its_longest_number_of_steps() -> None:
    # So rare that two lapses in a row are not among these.
    meant = np.broadcast_to(np.arange(1, 101)[:, None, None] / 100, (100, 4000, 1))
    lost = (shown(Lapses(0.0005, longest=3), meant) != meant)[:, :, 0]
    lengths = lost.sum(axis=0)[lost[:-3].any(axis=0) & ~lost[-3:].any(axis=0)]
    share = np.bincount(lengths, minlength=4)[:4] / len(lengths)
    np.testing.assert_allclose(share, [0, 1 / 3, 1 / 3, 1 / 3], atol=0.12)


def test_wrong_buttons_swap_neighbours_or_flip_one() -> None:
    meant = np.broadcast_to([0.1, 0.2, 0.3], (1, 30_000, 3))
    rows = shown(WrongButtons(swap=0.2, flip=0.3), meant)[0]
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    share = {tuple(k): c / len(rows) for k, c in zip(kinds.tolist(), counts, strict=True)}
    swapped = [(0.2, 0.1, 0.3), (0.1, 0.3, 0.2), (0.3, 0.2, 0.1)]
    flipped = [(-0.1, 0.2, 0.3), (0.1, -0.2, 0.3), (0.1, 0.2, -0.3)]
    assert share.pop((0.1, 0.2, 0.3)) == pytest.approx(0.5, abs=0.01)
    expected = {s: 0.2 / 3 for s in swapped} | {f: 0.1 for f in flipped}
    assert share == pytest.approx(expected, abs=0.01)


def test_a_bias_belongs_to_the_person_and_not_to_the_episode() -> None:
    meant = np.zeros((3, 5, 2))
    off = shown(Bias(0.3, seed=4), meant)
    assert (off == off[0, 0]).all()
    assert (off != shown(Bias(0.3, seed=5), meant)).all()
    many = np.array([shown(Bias(0.3, seed), np.zeros((1, 1, 2))) for seed in range(300)])
    assert 0.29 < abs(many).max() < 0.3
    assert abs(many.mean()) < 0.03


@pytest.mark.parametrize("teacher", HUMAN_LIKE + NOISES, ids=str)
def test_an_episode_alone_equals_the_same_episode_among_others(teacher: Teacher) -> None:
    of, meant = takes(25), meant_by(25)
    together = shown(teacher, meant, of)
    for i in (0, 11, 24):
        single = of.select(np.array([i]), of.number[[i]])
        np.testing.assert_array_equal(shown(teacher, meant[:, [i]], single), together[:, [i]])


@pytest.mark.parametrize("teacher", HUMAN_LIKE, ids=str)
def test_human_like_teachers_err_but_stay_within_the_range_of_a_device(teacher: Teacher) -> None:
    meant = meant_by(500)
    seen = shown(teacher, meant)
    assert abs(seen).max() <= 1.0
    assert abs(seen - meant).max() > 0.05


@pytest.mark.parametrize("teacher", NOISES, ids=str)
def test_the_three_noises_are_not_cut_off(teacher: Teacher) -> None:
    assert abs(shown(teacher, meant_by(500))).max() > 1.1


@pytest.mark.parametrize(
    "teacher",
    [Delay(0), Lapses(0.0), MotorNoise(0.0, 0.0), Overshoot(0.0), Bias(0.0, 3), WrongButtons()],
    ids=str,
)
def test_a_teacher_without_an_error_shows_what_was_meant(teacher: Teacher) -> None:
    meant = meant_by(50)
    np.testing.assert_array_equal(shown(teacher, meant), meant)
    np.testing.assert_array_equal(shown(Fatigue(teacher, during=3.0), meant), meant)


@pytest.mark.parametrize("teacher", HUMAN_LIKE + NOISES, ids=str)
def test_teachers_are_values(teacher: Teacher) -> None:
    assert len({teacher, teacher}) == 1
    assert Chain((teacher,)) == Chain((teacher,))
    assert "object at" not in str(teacher)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Delay(-1), "steps of Delay is -1; allowed: 0 or more"),
        (lambda: Delay(float("nan")), "steps of Delay is nan; allowed: 0 or more"),
        (lambda: Lapses(1.5), "probability of Lapses is 1.5; allowed: 0 to 1"),
        (lambda: Lapses(0.5, longest=0), "longest of Lapses is 0; allowed: 1 or more"),
        (lambda: MotorNoise(-0.1), "gain of MotorNoise is -0.1; allowed: 0 or more"),
        (lambda: MotorNoise(0.1, memory=1.0), "memory of MotorNoise is 1.0; allowed: 0 to below 1"),
        (lambda: Overshoot(0.1, decay=1.0), "decay of Overshoot is 1.0; allowed: 0 to below 1"),
        (lambda: Bias(-0.1, 0), "most of Bias is -0.1; allowed: 0 or more"),
        (lambda: Keyboard(1.0), "threshold of Keyboard is 1.0; allowed: 0 to below 1"),
        (lambda: Joystick(levels=0), "levels of Joystick is 0; allowed: 1 or more"),
        (lambda: Joystick(dead_zone=-0.1), "dead_zone of Joystick is -0.1; allowed: 0 to below 1"),
        (lambda: WrongButtons(0.7, 0.4), "flip of WrongButtons is 0.4; allowed: 0 to 0.3"),
        (lambda: Fatigue(Delay(1), during=-1), "during of Fatigue is -1; allowed: 0 or more"),
        (lambda: Fatigue(Delay(1), episodes=0), "episodes of Fatigue is 0; allowed: 1 or more"),
    ],
)
def test_impossible_parameters_are_refused_in_words(make: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        make()
