"""Gaussian counterfactuals: their law, their scale, and how they stay feasible."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from counterbc.data.feasible import Everywhere, Feasible, UnitBall, UnitBox
from counterbc.supports import Normal, StudentT
from tests.supports.placing import COUNT, SETS, many, place

both = pytest.mark.parametrize("support", [Normal(COUNT), StudentT(COUNT)], ids=repr)


def test_draws_are_gaussian_with_the_radius_of_each_dimension_as_scale() -> None:
    offset = many(Normal(COUNT), [0.1, -0.2], [0.4, 0.1], Everywhere()) - [0.1, -0.2]
    for d, scale in enumerate((0.4, 0.1)):
        assert stats.kstest(offset[:, d] / scale, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(offset.T)[0, 1]) < 4.5 / np.sqrt(COUNT)


def test_draws_limited_to_a_box_are_a_truncated_gaussian() -> None:
    point = many(Normal(COUNT), [0.5], 0.4, UnitBox())[:, 0]
    assert np.abs(point).max() <= 1
    truncated = stats.truncnorm(-1.5 / 0.4, 0.5 / 0.4, loc=0.5, scale=0.4)
    assert stats.kstest(point, truncated.cdf).pvalue > 1e-3


@both
@pytest.mark.parametrize("feasible", [UnitBox(), UnitBall()], ids=repr)
def test_limited_draws_are_feasible_also_around_an_action_far_outside(
    support: Normal, feasible: Feasible
) -> None:
    for action in ([0.9, 0.9], [3.0, 0.0]):
        points = torch.tensor(many(support, action, 0.4, feasible))
        assert bool(feasible.contains(points).all())


@both
@pytest.mark.parametrize("feasible", SETS, ids=repr)
def test_a_dimension_with_zero_radius_stays_where_it_is(
    support: Normal, feasible: Feasible
) -> None:
    action = torch.tensor([[0.1, -0.3], [1.0, 1.0], [1.7, 0.2]])
    placed = place(support, action, 0.0, feasible)
    assert torch.equal(placed, action.unsqueeze(1).expand_as(placed))
    placed = place(support, action[:1], [0.0, 0.2], feasible)
    assert placed[..., 0].unique().tolist() == pytest.approx([0.1])
    assert placed[..., 1].std().item() > 0.1
