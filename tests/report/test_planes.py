"""Which two numbers draw a path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.report.planes import last_states, path_plane, principal_plane

RNG = np.random.default_rng(0)


def dataset(obs: Any, action: Any, **fields: Any) -> Demonstrations:
    return Demonstrations((Episode(obs, action),), **fields)


def test_positions_that_actions_set_are_drawn_with_the_actions() -> None:
    place = RNG.uniform(0, 500, (60, 2))
    obs = np.concatenate([RNG.normal(size=(60, 2)), place[:, ::-1]], axis=1)
    plane = path_plane(dataset(obs, place + RNG.normal(size=(60, 2))))
    assert plane is not None
    assert plane.holds_actions
    assert plane.names == ("state[3]", "state[2]")
    np.testing.assert_allclose(plane.of(obs), place)


def test_actions_of_another_size_are_no_places() -> None:
    place = RNG.uniform(0, 500, (60, 2))
    obs = np.concatenate([place, RNG.normal(size=(60, 2))], axis=1)
    names = ("ego_x", "ego_y", "a", "b")
    plane = path_plane(dataset(obs, place / 500, obs_names=names))
    assert plane is not None
    assert not plane.holds_actions
    assert plane.names == ("ego_x", "ego_y")


def test_scattered_observations_have_no_path() -> None:
    obs = RNG.normal(size=(200, 8))
    assert path_plane(dataset(obs, RNG.normal(size=(200, 3)))) is None
    flat = RNG.normal(size=(200, 2)) @ RNG.normal(size=(2, 8))
    assert path_plane(dataset(flat, RNG.normal(size=(200, 3)))) is not None


def test_images_have_no_path() -> None:
    images = np.zeros((5, 8, 8, 3), np.uint8)
    assert path_plane(dataset(images, RNG.normal(size=(5, 2)))) is None


def test_two_components_hold_all_of_a_plane() -> None:
    rows = RNG.normal(size=(50, 2)) @ RNG.normal(size=(2, 6)) + 3
    plane, share = principal_plane(rows)
    assert share == pytest.approx(1)
    np.testing.assert_allclose(plane.of(rows).mean(0), 0, atol=1e-9)
    assert principal_plane(np.ones((4, 1)))[0].of(np.ones((4, 1))).shape == (4, 2)


def test_whole_turns_do_not_move_a_last_state() -> None:
    obs = np.array([[0.0, 0.0], [1.0, 0.5]])
    turned_obs = obs + np.array([0, 2 * np.pi])
    episodes = (Episode(obs, np.zeros((2, 1))), Episode(turned_obs, np.zeros((2, 1))))
    first, second = last_states(Demonstrations(episodes, angles=("state[1]",)))
    np.testing.assert_allclose(first, second, atol=1e-6)
    np.testing.assert_allclose(first, [1, np.cos(0.5), np.sin(0.5)], atol=1e-6)
