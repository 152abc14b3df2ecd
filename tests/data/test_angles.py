"""Observed angles that wrap at a full turn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterbc.data.angles import TURN, Angles, angle_dims, cos_and_sin, wrapped_angles
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.errors import OptionError
from counterbc.formats import load
from tests.fixture_types import Make

TURNING = np.linspace(0, 3 * TURN, 200)  # three turns, of which the last ends at 2π


def dims(*columns: Array) -> tuple[int, ...]:
    """Return the wrapped angles among these columns, as one episode."""
    obs = np.stack(columns, axis=1)
    return wrapped_angles(Demonstrations((Episode(obs, np.zeros((len(obs), 1))),)))


def test_both_ranges_of_an_angle_are_detected_and_its_turns_are_not() -> None:
    positive, centred = TURNING % TURN, (TURNING + np.pi) % TURN - np.pi
    assert dims(TURNING, positive, centred, np.cos(TURNING)) == (1, 2)
    assert dims(positive + 0.1, positive * 57.3, centred / np.pi) == ()


def test_an_angle_that_only_swings_around_its_seam_is_detected() -> None:
    swing = 0.3 * np.sin(np.linspace(0, 20, 200))
    assert dims(swing % TURN, swing, swing + 1) == (0,)


def test_noise_and_a_switch_between_two_values_are_no_angles() -> None:
    noise = np.random.default_rng(0).uniform(-np.pi, np.pi, 200)
    switch = np.where(np.arange(200) % 20 < 10, 0.0, TURN)
    assert dims(noise, switch, np.full(200, np.pi)) == ()


def test_jumps_between_episodes_do_not_count() -> None:
    low, high = np.linspace(0.1, 0.5, 20)[:, None], np.linspace(5.8, 6.2, 20)[:, None]
    action = np.zeros((20, 1))
    assert wrapped_angles(Demonstrations((Episode(low, action), Episode(high, action)))) == ()


def test_values_that_are_not_finite_are_skipped() -> None:
    angle = (TURNING % TURN)[:, None]
    angle[5], angle[50] = np.nan, np.inf
    angles = Angles(1)
    angles.add(angle)
    assert angles.detect() == (0,)


def test_the_block_of_push_t_has_an_angle_that_wraps_and_nothing_else_does(data: Path) -> None:
    demos = load(data / "pusht_human_206.hdf5")
    assert [demos.obs_names[i] for i in wrapped_angles(demos)] == ["state[4]"]


@pytest.mark.parametrize(
    "name",
    ["pusht_other_goal_151.hdf5", "adroit_door_human_25.hdf5", "fixtures/lerobot_v21_g1"],
)
def test_angles_that_do_not_wrap_are_not_detected(data: Path, name: str) -> None:
    assert wrapped_angles(load(data / name)) == ()


@pytest.mark.parametrize("world", ["intersection", "cartpole", "cartpole-hard", "air-hockey"])
def test_nothing_wraps_in_our_worlds(world: str) -> None:
    assert wrapped_angles(demonstrate(world, UniformNoise(0.5), 600, seed=0)) == ()


def test_images_have_no_angles() -> None:
    frames = Episode(np.zeros((3, 8, 8, 3), np.uint8), np.zeros((3, 1)))
    demos = Demonstrations((frames,))
    assert wrapped_angles(demos) == angle_dims(demos, "auto", detect=True) == ()
    with pytest.raises(OptionError, match="angles is 'yaw', but images have no angles; leave ang"):
        angle_dims(demos, "yaw", detect=False)


def test_named_angles_are_found_and_others_are_detected_if_asked_for(make_demos: Make) -> None:
    demos = make_demos()
    assert angle_dims(demos, "state[2], state[0]", detect=False) == (0, 2)
    assert angle_dims(demos, "auto", detect=True) == wrapped_angles(demos)
    assert angle_dims(demos, "none", detect=True) == ()
    with pytest.raises(OptionError, match=r"unknown angle 'yaw'.*state\[0\]"):
        angle_dims(demos, "yaw", detect=False)


def test_declared_angles_are_read_by_every_policy_unless_none_are_asked_for(
    make_demos: Make,
) -> None:
    demos = replace(make_demos(), angles=("state[1]",))
    assert angle_dims(demos, "auto", detect=False) == (1,)
    assert angle_dims(demos, "state[0]", detect=False) == (0,)
    assert angle_dims(demos, "none", detect=True) == ()


def test_angles_become_cosine_and_sine_and_whole_turns_vanish(make_demos: Make) -> None:
    demos = make_demos()
    assert cos_and_sin(demos) is demos
    plain = cos_and_sin(replace(demos, angles=("state[1]",)))
    assert (plain.angles, plain.obs_shape) == ((), (demos.obs_shape[0] + 1,))
    np.testing.assert_allclose(plain.obs[:, 1], np.cos(demos.obs[:, 1]), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(plain.obs[:, -1], np.sin(demos.obs[:, 1]), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(plain.obs[:, 0], demos.obs[:, 0])
    np.testing.assert_array_equal(plain.action, demos.action)
