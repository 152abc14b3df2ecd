"""contains, project and interval speak of the same set."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from counterbc.data.feasible import Everywhere, Feasible, UnitBall, UnitBox, feasible_set

SETS: list[Feasible] = [Everywhere(), UnitBox(), UnitBall()]
LIMITED: list[Feasible] = [UnitBox(), UnitBall()]

points = st.lists(st.floats(-3, 3), min_size=1, max_size=6).map(
    lambda x: torch.tensor(x, dtype=torch.float64)
)


@pytest.mark.parametrize("feasible", SETS, ids=repr)
@settings(max_examples=60)
@given(point=points)
def test_a_projection_lies_in_the_set_and_stays_there(feasible: Feasible, point: Tensor) -> None:
    once = feasible.project(point)
    assert bool(feasible.contains(once))
    torch.testing.assert_close(feasible.project(once), once, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("feasible", SETS, ids=repr)
@settings(max_examples=60)
@given(point=points)
def test_a_point_of_the_set_is_its_own_projection(feasible: Feasible, point: Tensor) -> None:
    inside = 0.99 * feasible.project(point)
    assert bool(feasible.contains(inside))
    assert torch.equal(feasible.project(inside), inside)


@pytest.mark.parametrize("feasible", LIMITED, ids=repr)
@settings(max_examples=60)
@given(point=points, seed=st.integers(0, 1000))
def test_no_point_of_the_set_is_nearer_than_the_projection(
    feasible: Feasible, point: Tensor, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    random_points = 2 * torch.rand(50, len(point), generator=generator, dtype=torch.float64) - 1
    random_points = random_points[feasible.contains(random_points)]
    nearest = (point - feasible.project(point)).norm()
    assert bool(((point - random_points).norm(dim=-1) >= nearest - 1e-9).all())


@pytest.mark.parametrize("feasible", LIMITED, ids=repr)
@settings(max_examples=60)
@given(point=points, data=st.data())
def test_an_interval_ends_where_the_set_ends(
    feasible: Feasible, point: Tensor, data: st.DataObject
) -> None:
    point = feasible.project(point)
    d = data.draw(st.integers(0, len(point) - 1))
    low, high = feasible.interval(point, d)
    # Rounding of 1 − Σ x² moves an edge by up to √ε; see contains for what is let through.
    assert low - 1e-7 <= point[d] <= high + 1e-7
    for end, outward_step in ((low, -0.01), (high, 0.01)):
        moved_point = point.clone()
        moved_point[d] = end
        assert bool(feasible.contains(moved_point))
        moved_point[d] = end + outward_step
        assert not bool(feasible.contains(moved_point))


def test_sets_by_hand() -> None:
    action = torch.tensor([[0.6, 0.8], [0.9, 0.9], [3.0, -4.0]])
    assert UnitBox().contains(action).tolist() == [True, True, False]
    assert UnitBall().contains(action).tolist() == [True, False, False]
    assert Everywhere().contains(action).tolist() == [True, True, True]
    assert UnitBox().project(action)[2].tolist() == [1, -1]
    assert UnitBall().project(action)[2].tolist() == pytest.approx([0.6, -0.8])
    assert [x.tolist()[0] for x in UnitBall().interval(action, 0)] == pytest.approx([-0.6, 0.6])
    assert [x.tolist()[0] for x in UnitBox().interval(action, 0)] == [-1, 1]
    assert Everywhere().interval(action, 1)[1].tolist() == [torch.inf] * 3


def test_rounding_at_the_edge_is_not_infeasible_but_a_thousandth_is() -> None:
    for feasible in LIMITED:
        assert bool(feasible.contains(torch.tensor([1.0 + 1e-6, 0.0])))
        assert not bool(feasible.contains(torch.tensor([1.001, 0.0])))


def test_a_dataset_names_its_set() -> None:
    assert feasible_set("ball") == UnitBall()
    assert feasible_set("box") == UnitBox()
