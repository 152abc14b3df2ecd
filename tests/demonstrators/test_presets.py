"""The teachers that come with the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.demonstrators import (
    CAN_OPERATORS,
    DEFAULT_TEACHER,
    HUMAN_TEACHERS,
    Crowd,
    GaussianNoise,
    Human,
    Teacher,
    UniformNoise,
    demonstrate,
    find_teacher,
    record,
)
from counterbc.errors import OptionError
from tests.demonstrators.playback import play, random_intentions

PEOPLE = ("novice", "typical", "skilled")


def errors(teacher: Teacher, episodes: int, seed: int = 0) -> NDArray[Any]:
    """Shown minus intended on Intersection, where all episodes are equally long: (N, T, A)."""
    takes = record("intersection", teacher, episodes, seed)
    return np.array([r.episode.action - r.intended for r in takes])


def find_person(name: str) -> Human:
    teacher = HUMAN_TEACHERS[name]
    assert isinstance(teacher, Human)
    return teacher


def people(name: str) -> list[Human]:
    """The operators of a crowd."""
    crowd = HUMAN_TEACHERS[name]
    assert isinstance(crowd, Crowd)
    return [teacher for _, teacher in crowd.operators if isinstance(teacher, Human)]


def rms(error: NDArray[Any]) -> float:
    return float(np.sqrt((error**2).mean()))


def autocorrelation(error: NDArray[Any]) -> float:
    """Of neighbouring steps."""
    e = error - error.mean(axis=(0, 1))
    return float(np.corrcoef(e[:, 1:].ravel(), e[:, :-1].ravel())[0, 1])


def test_skill_orders_the_presets_and_a_quick_typical_one_errs_as_much_as_uniform_noise() -> None:
    novice, typical, skilled = (rms(errors(HUMAN_TEACHERS[name], 400)) for name in PEOPLE)
    assert novice > 1.3 * typical > 1.5 * skilled > 0.3
    novice, typical, skilled = (
        rms(errors(HUMAN_TEACHERS[f"quick-{name}"], 400)) for name in PEOPLE
    )
    assert novice > 1.5 * typical > 3 * skilled > 0.15
    assert typical == pytest.approx(rms(errors(UniformNoise(0.5), 400)), abs=0.03)


def test_human_errors_last_from_step_to_step_and_white_noise_does_not() -> None:
    assert abs(autocorrelation(errors(UniformNoise(0.5), 400))) < 0.03
    for name in PEOPLE:
        late, quick = (
            autocorrelation(errors(HUMAN_TEACHERS[n], 400)) for n in (name, f"quick-{name}")
        )
        assert late > quick > 0.2, name


def test_people_react_in_150_to_350_milliseconds_and_the_skilled_first() -> None:
    novice, typical, skilled = (find_person(name) for name in PEOPLE)
    assert 0.15 <= skilled.delay < typical.delay < novice.delay <= 0.35
    delays = [person.delay for person in people("crowd")]
    assert 0.15 <= min(delays) < 0.17
    assert 0.31 < max(delays) <= 0.35
    assert all(person.delay_steps == 0 for person in people("crowd"))


def test_the_late_crowd_shows_about_as_many_steps_of_cartpole_as_the_papers_people() -> None:
    lengths = np.array(
        [len(r.episode) for r in record("cartpole", HUMAN_TEACHERS["crowd"], 1000, 0)]
    )
    error = lengths.std() / np.sqrt(len(lengths))
    assert error < 0.5
    assert 25 < lengths.mean() < 33  # the paper: 30.3


@pytest.mark.parametrize("name", [*PEOPLE, "crowd"])
def test_quick_presets_show_what_the_presets_of_the_first_release_did(name: str) -> None:
    teacher = HUMAN_TEACHERS[f"quick-{name}"]
    with np.load(Path(__file__).parent / "data" / "first_release.npz") as release:
        shown = play(teacher, random_intentions(release[name].shape[1]))
        np.testing.assert_allclose(shown, release[name], rtol=1e-6, atol=1e-9)
        for world, pairs in (("intersection", 60), ("cartpole", 100)):
            action = demonstrate(world, teacher, pairs, seed=0).action
            np.testing.assert_allclose(action, release[f"{name} in {world}"], rtol=1e-4, atol=1e-6)


def test_a_preset_is_named_in_the_source_of_its_data() -> None:
    for name in (*PEOPLE, *(f"quick-{name}" for name in PEOPLE)):
        demos = demonstrate("intersection", HUMAN_TEACHERS[name], 20, 3)
        assert demos.source == f"intersection, {name}, seed 3"
        assert demos.operators == ()


@pytest.mark.parametrize(
    ("name", "ratio", "spread"), [("crowd", 1.5, 0.05), ("quick-crowd", 3, 0.1)]
)
def test_the_crowd_has_twenty_operators_who_err_differently(
    name: str, ratio: float, spread: float
) -> None:
    crowd = HUMAN_TEACHERS[name]
    demos = demonstrate("intersection", crowd, pairs=400, seed=0)
    assert demos.operators == tuple(f"operator_{i:02d}" for i in range(1, 21))
    single_errors, second_errors = (
        np.array([rms(error[i::20]) for i in range(20)])
        for error in (errors(crowd, 20 * 40, seed=0), errors(crowd, 20 * 40, seed=1))
    )
    assert single_errors.max() > ratio * single_errors.min()
    assert single_errors.std() > spread
    # Other episodes of the same operators: how much they err is theirs, not the episodes'.
    assert np.corrcoef(single_errors, second_errors)[0, 1] > 0.95


@pytest.mark.parametrize(("name", "trait"), [("crowd", "delay"), ("quick-crowd", "delay_steps")])
def test_the_crowd_mixes_devices_delays_and_biases(name: str, trait: str) -> None:
    operators = people(name)
    assert len(operators) == 20
    assert {type(p.device).__name__ for p in operators} == {"Keyboard", "Joystick"}
    assert len({getattr(p, trait) for p in operators}) == len({p.seed for p in operators}) == 20
    error = errors(HUMAN_TEACHERS[name], 20 * 40)
    bias = np.array([error[i::20].mean(axis=(0, 1)) for i in range(20)])  # (20, A)
    assert (bias.std(axis=0) > 0.05).all()


def test_a_teacher_is_found_by_name_or_by_noise() -> None:
    assert find_teacher() == DEFAULT_TEACHER == UniformNoise(0.5)
    assert find_teacher(sigma=0.2) == UniformNoise(0.2)
    assert find_teacher(noise="gaussian") == GaussianNoise(0.5)
    assert find_teacher("typical") is HUMAN_TEACHERS["typical"]
    with pytest.raises(OptionError, match="allowed: novice, typical, skilled, crowd, quick-nov"):
        find_teacher("expert")
    with pytest.raises(OptionError, match=r"synthetic_worse_2$"):
        find_teacher("expert", world="can")
    with pytest.raises(OptionError, match=r"quick-crowd$"):
        find_teacher("expert", world="fork")
    assert find_teacher("synthetic_okay_1", world="can") is CAN_OPERATORS["synthetic_okay_1"]
    with pytest.raises(OptionError, match="synthetic_okay_1 cannot act in fork, only in can; "):
        find_teacher("synthetic_okay_1", world="fork")
    for options in ({"noise": "uniform"}, {"sigma": 0.0}):
        with pytest.raises(OptionError, match="give a teacher, or a noise and a sigma"):
            find_teacher("typical", **options)
