"""A set that the user defines by a distance."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from counterbc.data.feasible import Everywhere, Feasible, UnitBox
from counterbc.errors import OptionError
from counterbc.supports import Metric
from tests.supports.placing import COUNT, EDGE, SETS, looks_uniform, many, place


def manhattan(a: Tensor, b: Tensor) -> Tensor:
    return (a - b).abs().sum(-1)


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("feasible", SETS, ids=repr)
def test_a_users_distance_is_kept(feasible: Feasible, size: int) -> None:
    action = torch.zeros(1, size)
    action[:, 0] = 1  # on the edge of both sets
    points = place(Metric(500, distance=manhattan), action, 0.4, feasible)
    assert manhattan(points, action.unsqueeze(1)).max().item() <= 0.4 + EDGE
    assert bool(feasible.contains(points).all())
    assert len(points.unique(dim=1)[0]) > 450


@pytest.mark.parametrize("size", [1, 2, 7, 28])
def test_a_metric_spreads_in_a_corner_too(size: int) -> None:
    points = many(Metric(500, distance=manhattan), [1.0] * size, 0.4, UnitBox())
    assert np.abs(points - 1).sum(1).mean() > 0.1


def test_a_users_distance_in_two_dimensions_is_uniform_in_its_diamond() -> None:
    offset = many(Metric(COUNT, distance=manhattan), [0.0, 0.0], 0.4, Everywhere())
    assert looks_uniform((np.abs(offset).sum(1) / 0.4) ** 2)


def test_a_metric_reaches_beyond_its_radius_where_told() -> None:
    def halved(a: Tensor, b: Tensor) -> Tensor:
        return (a - b).abs().amax(-1) / 2

    points = many(Metric(COUNT, distance=halved, reach=2.0), [0.0], 0.4, Everywhere())
    assert looks_uniform((points[:, 0] + 0.8) / 1.6)


def test_a_metric_refuses_a_radius_per_dimension() -> None:
    with pytest.raises(OptionError, match="one radius, not one per dimension; give one number"):
        place(Metric(), torch.zeros(1, 2), [0.1, 0.2], Everywhere())
