"""Counterfactuals of every support lie in C(s, a) ∩ A, the demonstrated action first."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from counterbc.data.feasible import Feasible, UnitBall, UnitBox
from counterbc.errors import OptionError
from counterbc.supports import Ball, Box, Metric, Support
from tests.supports.placing import EDGE, SETS, far, place

SUPPORTS = [Ball(), Box(), Metric()]


def demonstrated_actions(size: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(size)
    random = 2 * torch.rand(12, size, generator=generator) - 1
    corner = torch.ones(1, size)
    corner[:, ::2] = -1
    edge = 0.5 * torch.ones(1, size)
    edge[:, 0] = 1
    return {
        "inside": 0.9 * random / random.norm(dim=-1, keepdim=True).clamp(min=1),
        "on the sphere": random / random.norm(dim=-1, keepdim=True),
        "on the edge": edge,
        "in a corner": corner,
    }


@pytest.mark.parametrize("feasible", SETS, ids=repr)
@pytest.mark.parametrize("support", SUPPORTS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("size", [1, 2, 7, 28])
def test_every_point_lies_in_the_support_and_is_feasible(
    support: Support, feasible: Feasible, size: int
) -> None:
    for place_name, action in demonstrated_actions(size).items():
        if not bool(feasible.contains(action).all()):
            continue  # an action outside A is another matter, below
        points = place(support, action, 0.4, feasible)
        assert points.shape == (len(action), 51, size)
        assert torch.equal(points[:, 0], action), place_name
        offset = points - action.unsqueeze(1)
        assert far(support, offset).max().item() <= 0.4 + EDGE, place_name
        assert bool(feasible.contains(points).all()), place_name
        if not isinstance(support, Metric):
            assert far(support, offset[:, 1:]).mean().item() > 0.1, place_name  # they do move


@pytest.mark.parametrize("feasible", [UnitBox(), UnitBall()], ids=repr)
@pytest.mark.parametrize("support", SUPPORTS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("size", [1, 2, 7, 28])
def test_an_action_far_outside_stands_for_its_counterfactuals(
    support: Support, feasible: Feasible, size: int
) -> None:
    action = torch.full((1, size), 3.0)
    points = place(support, action, 0.4, feasible)
    assert torch.equal(points, action.unsqueeze(1).expand(1, 51, size))


@pytest.mark.parametrize("feasible", SETS, ids=repr)
@pytest.mark.parametrize("support", SUPPORTS, ids=lambda s: type(s).__name__)
def test_a_zero_radius_leaves_every_action_exactly_where_it_is(
    support: Support, feasible: Feasible
) -> None:
    action = torch.tensor([[0.1, -0.3], [1.0, 1.0], [0.6, 0.8], [1.7, 0.0]])
    points = place(support, action, 0.0, feasible)
    assert torch.equal(points, action.unsqueeze(1).expand_as(points))


@pytest.mark.parametrize("kind", [Ball, Box, Metric])
def test_a_negative_count_is_refused(kind: type[Support]) -> None:
    with pytest.raises(OptionError, match="count is -1; give 0 counterfactuals or more"):
        kind(count=-1)
