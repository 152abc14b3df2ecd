"""Operators who take turns, and the people that come with the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.demonstrators import (
    DEFAULT_TEACHER,
    TEACHERS,
    Chain,
    Crowd,
    Delay,
    EpisodeBatch,
    Fatigue,
    GaussianNoise,
    Human,
    Keyboard,
    Teacher,
    UniformNoise,
    demonstrate,
    find_teacher,
    record,
)
from counterbc.errors import OptionError

SIGMAS = (0.05, 0.2, 0.4, 0.6, 0.8, 1.0)
SIX = Crowd(tuple((f"sigma {s:g}", UniformNoise(s)) for s in SIGMAS))


def errors(teacher: Teacher, episodes: int, seed: int = 0) -> NDArray[Any]:
    """Shown minus intended on Intersection, where all episodes are equally long: (N, T, A)."""
    shown = record("intersection", teacher, episodes, seed)
    return np.array([r.episode.action - r.intended for r in shown])


def rms(error: NDArray[Any]) -> float:
    return float(np.sqrt((error**2).mean()))


def autocorrelation(error: NDArray[Any]) -> float:
    """Of neighbouring steps."""
    e = error - error.mean(axis=(0, 1))
    return float(np.corrcoef(e[:, 1:].ravel(), e[:, :-1].ravel())[0, 1])


def test_operators_take_turns_and_are_recorded() -> None:
    demos = demonstrate("intersection", SIX, pairs=20 * 15, seed=0)
    expected = [f"sigma {SIGMAS[k % 6]:g}" for k in range(15)]
    assert [e.operator for e in demos.episodes] == expected
    assert demos.operators == tuple(f"sigma {s:g}" for s in SIGMAS)
    assert demos.source == "intersection, crowd of 6, seed 0"


def test_each_operator_errs_as_its_own_teacher() -> None:
    error = errors(SIX, 600)
    for i, sigma in enumerate(SIGMAS):
        assert rms(error[i::6]) == pytest.approx(sigma / np.sqrt(3), rel=0.05)


def test_operators_keep_their_names_within_a_chain_and_when_tired() -> None:
    for teacher in (Chain((Delay(1), SIX, Keyboard())), Fatigue(SIX, during=1.0)):
        assert [teacher.operator(k) for k in (0, 5, 6)] == ["sigma 0.05", "sigma 1", "sigma 0.05"]
    assert Chain((Delay(1), Keyboard())).operator(0) is None


def test_shares_are_episodes_in_a_turn() -> None:
    crowd = Crowd((("a", UniformNoise(0.1)), ("b", UniformNoise(0.2))), shares=(3, 1))
    assert [crowd.operator(k) for k in range(9)] == list("aaabaaaba")


def test_an_operator_counts_its_own_episodes() -> None:
    tired = Fatigue(Keyboard(0.5), after=1.0, episodes=10)
    crowd = Crowd((("a", tired), ("b", UniformNoise(0.0))), shares=(2, 1))
    takes = EpisodeBatch(np.arange(8), np.arange(8), size=1, steps=1)
    shown = crowd.begin(takes)(np.full((8, 1), 0.4), 0)[:, 0]
    # Operator a shows the episodes 0, 1, 3, 4, 6, 7 and errs by −0.4 · (1 + k/10) in its k-th.
    own = {0: 0, 1: 1, 3: 2, 4: 3, 6: 4, 7: 5}
    expected = [0.4 - 0.4 * (1 + own[k] / 10) if k in own else 0.4 for k in range(8)]
    np.testing.assert_allclose(shown, expected, atol=1e-12)


def test_crowds_without_distinct_names_or_whole_shares_are_refused() -> None:
    with pytest.raises(
        OptionError, match="operators of a crowd are none; give one or more operators"
    ):
        Crowd(())
    with pytest.raises(OptionError, match="are a, a; give one or more operators with different"):
        Crowd((("a", UniformNoise(0.1)), ("a", UniformNoise(0.2))))
    for shares in ((1,), (1, 0)):
        with pytest.raises(OptionError, match="give 2 whole numbers above 0"):
            Crowd((("a", UniformNoise(0.1)), ("b", UniformNoise(0.2))), shares)


def test_skill_orders_the_presets_and_the_typical_errs_as_much_as_uniform_noise() -> None:
    novice, typical, skilled, uniform = (
        rms(errors(t, 400))
        for t in (TEACHERS["novice"], TEACHERS["typical"], TEACHERS["skilled"], UniformNoise(0.5))
    )
    assert novice > 1.5 * typical > 3 * skilled > 0.15
    assert typical == pytest.approx(uniform, abs=0.03)


def test_human_errors_last_from_step_to_step_and_white_noise_does_not() -> None:
    assert abs(autocorrelation(errors(UniformNoise(0.5), 400))) < 0.03
    for name in ("novice", "typical", "skilled"):
        assert autocorrelation(errors(TEACHERS[name], 400)) > 0.2, name


def test_a_preset_is_named_in_the_source_of_its_data() -> None:
    for name in ("novice", "typical", "skilled"):
        demos = demonstrate("intersection", TEACHERS[name], 20, 3)
        assert demos.source == f"intersection, {name}, seed 3"
        assert demos.operators == ()


def test_the_crowd_has_twenty_operators_who_err_differently() -> None:
    crowd = TEACHERS["crowd"]
    demos = demonstrate("intersection", crowd, pairs=400, seed=0)
    assert demos.operators == tuple(f"operator_{i:02d}" for i in range(1, 21))
    each, again = (
        np.array([rms(error[i::20]) for i in range(20)])
        for error in (errors(crowd, 20 * 40, seed=0), errors(crowd, 20 * 40, seed=1))
    )
    assert each.max() > 3 * each.min()
    assert each.std() > 0.1
    # Other episodes of the same operators: how much they err is theirs, not the episodes'.
    assert np.corrcoef(each, again)[0, 1] > 0.95


def test_the_crowd_mixes_devices_delays_and_biases() -> None:
    crowd = TEACHERS["crowd"]
    assert isinstance(crowd, Crowd)
    people = [teacher for _, teacher in crowd.operators if isinstance(teacher, Human)]
    assert len(people) == 20
    assert {type(p.device).__name__ for p in people} == {"Keyboard", "Joystick"}
    assert len({p.delay for p in people}) == len({p.seed for p in people}) == 20
    error = errors(crowd, 20 * 40)
    bias = np.array([error[i::20].mean(axis=(0, 1)) for i in range(20)])  # (20, A)
    assert (bias.std(axis=0) > 0.05).all()


def test_someone_like_a_person_is_the_same_for_the_same_seed() -> None:
    novice = TEACHERS["novice"]
    assert isinstance(novice, Human)
    assert novice.someone_like(5, "a") == novice.someone_like(5, "a")
    assert novice.someone_like(5, "a") != novice.someone_like(6, "a")


def test_a_teacher_is_found_by_name_or_by_noise() -> None:
    assert find_teacher() == DEFAULT_TEACHER == UniformNoise(0.5)
    assert find_teacher(sigma=0.2) == UniformNoise(0.2)
    assert find_teacher(noise="gaussian") == GaussianNoise(0.5)
    assert find_teacher("typical") is TEACHERS["typical"]
    with pytest.raises(OptionError, match="allowed: novice, typical, skilled, crowd"):
        find_teacher("expert")
    for given in ({"noise": "uniform"}, {"sigma": 0.0}):
        with pytest.raises(OptionError, match="give a teacher, or a noise and a sigma"):
            find_teacher("typical", **given)
