"""Rejection and the walk inside a convex set."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from counterbc.data.feasible import Feasible, UnitBall, UnitBox
from counterbc.supports import Ball, Box, Support
from tests.supports.placing import COUNT, EDGE, SETS, angle, far, looks_uniform, many, place


@pytest.mark.parametrize("feasible", [UnitBox(), UnitBall()], ids=repr)
@pytest.mark.parametrize("support", [Ball(), Box()], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("size", [1, 2, 7, 28])
def test_an_action_outside_with_feasible_ones_near_has_those_as_counterfactuals(
    support: Support, feasible: Feasible, size: int
) -> None:
    direction = torch.zeros(1, size)
    direction[:, 0] = 1
    action = 1.2 * direction  # 0.2 outside, within the radius
    points = place(support, action, 0.4, feasible)
    assert torch.equal(points[:, 0], action)
    assert bool(feasible.contains(points[:, 1:]).all())
    assert far(support, points - action.unsqueeze(1)).max().item() <= 0.4 + EDGE


def test_the_walk_alone_fills_a_corner_of_the_disc_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterbc.supports.convex._TRIES", 0)
    offset = many(Ball(COUNT), [1.0, 1.0], 0.4, UnitBox()) - [1.0, 1.0]
    assert looks_uniform((np.linalg.norm(offset, axis=1) / 0.4) ** 2)
    assert looks_uniform((angle(offset) - 0.5) * 4)


def test_a_corner_of_28_dimensions_is_filled_and_not_only_its_tip() -> None:
    points = many(Ball(2000), [1.0] * 28, 0.4, UnitBox())
    length = np.linalg.norm(points - 1, axis=1) / 0.4
    # Uniform in a 28-ball: a mean length of 28/29; and no dimension is preferred.
    assert length.mean() == pytest.approx(28 / 29, abs=0.01)
    means = (1 - points).mean(0)
    assert means.max() / means.min() < 1.25


@pytest.mark.parametrize("feasible", SETS, ids=repr)
@pytest.mark.parametrize("support", [Ball(COUNT), Box(COUNT)], ids=lambda s: type(s).__name__)
def test_a_dimension_with_zero_radius_does_not_move_at_all(
    support: Support, feasible: Feasible
) -> None:
    action = [0.2, 0.7, -0.3]
    points = many(support, action, [0.3, 0.0, 0.3], feasible)
    assert np.unique(points[:, 1]).tolist() == [np.float32(0.7)]
    assert points[:, 0].std() > 0.1
    assert points[:, 2].std() > 0.1
