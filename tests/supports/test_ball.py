"""A ball, cut by the feasible actions, is filled uniformly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import stats

from counterbc.data.feasible import Everywhere, Feasible, UnitBall, UnitBox
from counterbc.supports import Ball
from tests.supports.placing import COUNT, angle, looks_uniform, many


def test_a_whole_disc_is_uniform() -> None:
    offset = many(Ball(COUNT), [0.1, -0.2], 0.4, Everywhere()) - [0.1, -0.2]
    assert looks_uniform((np.linalg.norm(offset, axis=1) / 0.4) ** 2)
    assert looks_uniform(angle(offset))


@pytest.mark.parametrize("size", [1, 7, 28])
def test_a_ball_in_other_dimensions_is_uniform(size: int) -> None:
    offset = many(Ball(COUNT), [0.0] * size, 0.4, Everywhere())
    assert looks_uniform((np.linalg.norm(offset, axis=1) / 0.4) ** size)
    for d in range(size):
        assert abs(offset[:, d].mean()) < 4.5 * offset[:, d].std() / math.sqrt(COUNT)


def test_half_a_disc_cut_by_the_box_is_uniform() -> None:
    offset = many(Ball(COUNT), [1.0, 0.0], 0.4, UnitBox()) - [1.0, 0.0]
    assert looks_uniform((np.linalg.norm(offset, axis=1) / 0.4) ** 2)
    assert looks_uniform((angle(offset) - 0.25) * 2)  # from a quarter turn to three quarters


def test_a_quarter_of_a_disc_in_a_corner_is_uniform() -> None:
    offset = many(Ball(COUNT), [1.0, 1.0], 0.4, UnitBox()) - [1.0, 1.0]
    assert looks_uniform((np.linalg.norm(offset, axis=1) / 0.4) ** 2)
    assert looks_uniform((angle(offset) - 0.5) * 4)


def rejected(center: list[float], radius: float, feasible: Feasible) -> NDArray[Any]:
    """What brute force gives: points of the box around the ball, thrown away where outside."""
    rng = np.random.default_rng(5)
    point = rng.uniform(-radius, radius, (60_000, 2)) + center
    near = np.linalg.norm(point - center, axis=1) <= radius
    return np.asarray(point[near & feasible.contains(torch.from_numpy(point)).numpy()])


@pytest.mark.parametrize("center", [[0.9, 0.0], [0.6, 0.8], [1.15, 0.0], [-0.5, 0.5]])
def test_the_lens_of_two_balls_is_as_even_as_brute_force(center: list[float]) -> None:
    truth = rejected(center, 0.4, UnitBall())
    lens_points = many(Ball(COUNT), center, 0.4, UnitBall())
    edges = [np.quantile(truth[:, d], np.linspace(0, 1, 6)[1:-1]) for d in range(2)]

    def cells(x: NDArray[Any]) -> NDArray[Any]:
        column, row = np.digitize(x[:, 0], edges[0]), np.digitize(x[:, 1], edges[1])
        return np.bincount(5 * column + row, minlength=25)

    table = np.stack([cells(truth), cells(lens_points)])
    table = table[:, table.sum(0) > 20]
    assert stats.chi2_contingency(table).pvalue > 1e-3


def test_the_dimensions_that_move_fill_a_ball_of_their_own() -> None:
    offset = many(Ball(COUNT), [0.2, 0.7, -0.3], [0.3, 0.0, 0.3], Everywhere()) - [0.2, 0.7, -0.3]
    assert looks_uniform((np.linalg.norm(offset[:, [0, 2]], axis=1) / 0.3) ** 2)
    assert looks_uniform(angle(offset[:, [0, 2]]))


def test_a_gripper_at_its_bound_stays_there_while_the_rest_fills_its_corner() -> None:
    points = many(Ball(COUNT), [1.0, 1.0, 1.0], [0.4, 0.0, 0.4], UnitBox())
    assert np.unique(points[:, 1]).tolist() == [1.0]
    offset = points[:, [0, 2]] - 1
    assert looks_uniform((np.linalg.norm(offset, axis=1) / 0.4) ** 2)
    assert looks_uniform((angle(offset) - 0.5) * 4)


def test_radii_per_dimension_make_an_ellipse() -> None:
    offset = many(Ball(COUNT), [0.0, 0.0], [0.1, 0.5], UnitBox()) / [0.1, 0.5]
    assert looks_uniform(np.linalg.norm(offset, axis=1) ** 2)
    assert looks_uniform(angle(offset))
