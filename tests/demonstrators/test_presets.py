"""The teachers that come with the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.demonstrators import (
    DEFAULT_TEACHER,
    TEACHERS,
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
