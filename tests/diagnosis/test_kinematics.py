"""How an episode moves, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.data.arrays import Array
from counterbc.diagnosis.kinematics import all_kinematics, spectral_arc_length


def kinematics(path: Array, action: Array, typical_step: float) -> dict[str, float]:
    """Return the measures of one episode."""
    measures = all_kinematics([path], [action], typical_step)
    return {name: float(values[0]) for name, values in measures.items()}


def test_a_straight_steady_path_is_efficient_and_never_idle() -> None:
    path = np.stack([np.arange(20.0), np.zeros(20)], axis=1)
    moves = kinematics(path, np.zeros((20, 1)), typical_step=1.0)
    assert moves["efficiency"] == pytest.approx(1.0)
    assert (moves["idle"], moves["jerk"], moves["saturation"]) == (0.0, 0.0, 0.0)


def test_a_way_there_and_back_with_a_rest_is_neither() -> None:
    path = np.array([0.0, 1, 2, 2, 2, 1, 0])[:, None]
    action = np.array([1.0, 1, 0, 0, -1, -1, 0])[:, None]
    moves = kinematics(path, action, typical_step=1.0)
    assert moves["efficiency"] == 0.0
    assert moves["idle"] == pytest.approx(2 / 6)
    assert moves["saturation"] == pytest.approx(4 / 7)
    # second differences: -1, 1, -1, 1, 1
    assert moves["jerk"] == pytest.approx(1.0)


def test_a_shaky_speed_is_less_smooth_than_a_bell() -> None:
    t = np.linspace(0, 1, 50)
    bell = np.sin(np.pi * t) ** 2
    shaky = bell * (1 + 0.5 * np.sin(30 * np.pi * t))
    assert spectral_arc_length(shaky) < spectral_arc_length(bell) < 0
    assert spectral_arc_length(3 * bell) == pytest.approx(spectral_arc_length(bell))


def test_measures_of_many_episodes_are_those_of_each_alone() -> None:
    rng = np.random.default_rng(0)
    lengths = (1, 2, 3, 5, 20, 20, 1, 20)
    paths = [rng.normal(size=(n, 3)).cumsum(0) for n in lengths]
    paths[5] = np.ones((20, 3))  # stays where it is
    actions = [rng.uniform(-1, 1, (n, 2)) for n in lengths]
    measures = all_kinematics(paths, actions, 1.5)
    for i, (path, action) in enumerate(zip(paths, actions, strict=True)):
        step = np.linalg.norm(np.diff(path, axis=0), axis=1)
        alone = kinematics(path, action, 1.5)
        assert list(alone) == list(measures)
        np.testing.assert_array_equal([v[i] for v in measures.values()], list(alone.values()))
        if len(path) > 1:
            assert alone["speed"] == step.mean() / 1.5
    assert np.isnan([measures["efficiency"][5], measures["smoothness"][5]]).all()
    assert np.isnan([measures["speed"][0], measures["jerk"][1], measures["idle"][6]]).all()
    np.testing.assert_array_equal(measures["length"], lengths)
