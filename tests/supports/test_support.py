"""Counterfactuals lie in C(s, a) ∩ A, uniformly, the demonstrated action first."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import stats
from torch import Tensor

from counterbc.data.feasible import Everywhere, Feasible, UnitBall, UnitBox
from counterbc.errors import OptionError
from counterbc.supports import Ball, Box, Demonstrated, Metric, Support

SUPPORTS = [Ball(), Box(), Metric()]
SETS: list[Feasible] = [Everywhere(), UnitBox(), UnitBall()]
EDGE = 2e-5  # float32 rounding


def place(
    support: Support, action: Tensor, radius: Any, feasible: Feasible, seed: int = 0
) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    draws = support.draws(action.shape[-1], feasible)
    u = torch.rand(len(action), support.count, draws, generator=generator)
    delta = torch.as_tensor(radius, dtype=action.dtype).expand_as(action)
    return support.place(action, delta, u.to(action.dtype).clamp(1e-7, 1 - 1e-7), feasible)


def far(support: Support, offset: Tensor) -> Tensor:
    """The distance that defines C(s, a)."""
    return offset.abs().amax(-1) if isinstance(support, Box) else offset.norm(dim=-1)


def demonstrated(size: int) -> dict[str, Tensor]:
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


# Inside


@pytest.mark.parametrize("feasible", SETS, ids=repr)
@pytest.mark.parametrize("support", SUPPORTS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("size", [1, 2, 7, 28])
def test_every_point_lies_in_the_support_and_is_feasible(
    support: Support, feasible: Feasible, size: int
) -> None:
    for where, action in demonstrated(size).items():
        if not bool(feasible.contains(action).all()):
            continue  # an action outside A is another matter, below
        placed = place(support, action, 0.4, feasible)
        assert placed.shape == (len(action), 51, size)
        assert torch.equal(placed[:, 0], action), where
        offset = placed - action.unsqueeze(1)
        assert far(support, offset).max().item() <= 0.4 + EDGE, where
        assert bool(feasible.contains(placed).all()), where
        if not isinstance(support, Metric):
            assert far(support, offset[:, 1:]).mean().item() > 0.1, where  # they do move


@pytest.mark.parametrize("feasible", [UnitBox(), UnitBall()], ids=repr)
@pytest.mark.parametrize("support", [Ball(), Box()], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("size", [1, 2, 7, 28])
def test_an_action_outside_with_feasible_ones_near_has_those_as_counterfactuals(
    support: Support, feasible: Feasible, size: int
) -> None:
    direction = torch.zeros(1, size)
    direction[:, 0] = 1
    action = 1.2 * direction  # 0.2 outside, within the radius
    placed = place(support, action, 0.4, feasible)
    assert torch.equal(placed[:, 0], action)
    assert bool(feasible.contains(placed[:, 1:]).all())
    assert far(support, placed - action.unsqueeze(1)).max().item() <= 0.4 + EDGE


@pytest.mark.parametrize("feasible", [UnitBox(), UnitBall()], ids=repr)
@pytest.mark.parametrize("support", SUPPORTS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("size", [1, 2, 7, 28])
def test_an_action_far_outside_stands_for_its_counterfactuals(
    support: Support, feasible: Feasible, size: int
) -> None:
    action = torch.full((1, size), 3.0)
    placed = place(support, action, 0.4, feasible)
    assert torch.equal(placed, action.unsqueeze(1).expand(1, 51, size))


@pytest.mark.parametrize("feasible", SETS, ids=repr)
@pytest.mark.parametrize("support", SUPPORTS, ids=lambda s: type(s).__name__)
def test_a_zero_radius_leaves_every_action_exactly_where_it_is(
    support: Support, feasible: Feasible
) -> None:
    action = torch.tensor([[0.1, -0.3], [1.0, 1.0], [0.6, 0.8], [1.7, 0.0]])
    placed = place(support, action, 0.0, feasible)
    assert torch.equal(placed, action.unsqueeze(1).expand_as(placed))


# Uniform


def many(support: Support, action: list[float], radius: Any, feasible: Feasible) -> NDArray[Any]:
    """The counterfactuals of one action: (count, A)."""
    return place(support, torch.tensor([action]), radius, feasible)[0, 1:].double().numpy()


def looks_uniform(x: NDArray[Any]) -> bool:
    """Whether numbers could be uniform in (0, 1)."""
    return bool(stats.kstest(x, "uniform").pvalue > 1e-3)


def angle(points: NDArray[Any]) -> NDArray[Any]:
    """Of 2-D offsets, in turns within [0, 1)."""
    return np.asarray(np.arctan2(points[:, 1], points[:, 0]) / (2 * math.pi) % 1)


COUNT = 8000


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


def test_the_walk_alone_fills_a_corner_of_the_disc_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterbc.supports._TRIES", 0)
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
    ours = many(Ball(COUNT), center, 0.4, UnitBall())
    edges = [np.quantile(truth[:, d], np.linspace(0, 1, 6)[1:-1]) for d in range(2)]

    def cells(x: NDArray[Any]) -> NDArray[Any]:
        column, row = np.digitize(x[:, 0], edges[0]), np.digitize(x[:, 1], edges[1])
        return np.bincount(5 * column + row, minlength=25)

    table = np.stack([cells(truth), cells(ours)])
    table = table[:, table.sum(0) > 20]
    assert stats.chi2_contingency(table).pvalue > 1e-3


@pytest.mark.parametrize("size", [1, 2, 28])
def test_a_box_cut_by_the_box_is_uniform_in_every_dimension(size: int) -> None:
    placed = many(Box(COUNT), [1.0] * size, 0.4, UnitBox())
    for d in range(size):
        assert stats.kstest((placed[:, d] - 0.6) / 0.4, "uniform").pvalue > 1e-4


def test_a_corner_of_28_dimensions_is_filled_and_not_only_its_tip() -> None:
    placed = many(Ball(2000), [1.0] * 28, 0.4, UnitBox())
    length = np.linalg.norm(placed - 1, axis=1) / 0.4
    # Uniform in a 28-ball: a mean length of 28/29; and no dimension is preferred.
    assert length.mean() == pytest.approx(28 / 29, abs=0.01)
    means = (1 - placed).mean(0)
    assert means.max() / means.min() < 1.25


# A radius per dimension


@pytest.mark.parametrize("feasible", SETS, ids=repr)
@pytest.mark.parametrize("support", [Ball(COUNT), Box(COUNT)], ids=lambda s: type(s).__name__)
def test_a_dimension_with_zero_radius_does_not_move_at_all(
    support: Support, feasible: Feasible
) -> None:
    action = [0.2, 0.7, -0.3]
    placed = many(support, action, [0.3, 0.0, 0.3], feasible)
    assert np.unique(placed[:, 1]).tolist() == [np.float32(0.7)]
    assert placed[:, 0].std() > 0.1
    assert placed[:, 2].std() > 0.1


def test_the_dimensions_that_move_fill_a_ball_of_their_own() -> None:
    offset = many(Ball(COUNT), [0.2, 0.7, -0.3], [0.3, 0.0, 0.3], Everywhere()) - [0.2, 0.7, -0.3]
    assert looks_uniform((np.linalg.norm(offset[:, [0, 2]], axis=1) / 0.3) ** 2)
    assert looks_uniform(angle(offset[:, [0, 2]]))


def test_a_gripper_at_its_bound_stays_there_while_the_rest_fills_its_corner() -> None:
    placed = many(Ball(COUNT), [1.0, 1.0, 1.0], [0.4, 0.0, 0.4], UnitBox())
    assert np.unique(placed[:, 1]).tolist() == [1.0]
    offset = placed[:, [0, 2]] - 1
    assert looks_uniform((np.linalg.norm(offset, axis=1) / 0.4) ** 2)
    assert looks_uniform((angle(offset) - 0.5) * 4)


def test_radii_per_dimension_make_an_ellipse() -> None:
    offset = many(Ball(COUNT), [0.0, 0.0], [0.1, 0.5], UnitBox()) / [0.1, 0.5]
    assert looks_uniform(np.linalg.norm(offset, axis=1) ** 2)
    assert looks_uniform(angle(offset))


# A metric of the user's own


def manhattan(a: Tensor, b: Tensor) -> Tensor:
    return (a - b).abs().sum(-1)


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("feasible", SETS, ids=repr)
def test_a_users_distance_is_kept(feasible: Feasible, size: int) -> None:
    action = torch.zeros(1, size)
    action[:, 0] = 1  # on the edge of both sets
    placed = place(Metric(500, distance=manhattan), action, 0.4, feasible)
    assert manhattan(placed, action.unsqueeze(1)).max().item() <= 0.4 + EDGE
    assert bool(feasible.contains(placed).all())
    assert len(placed.unique(dim=1)[0]) > 450


@pytest.mark.parametrize("size", [1, 2, 7, 28])
def test_a_metric_spreads_in_a_corner_too(size: int) -> None:
    placed = many(Metric(500, distance=manhattan), [1.0] * size, 0.4, UnitBox())
    assert np.abs(placed - 1).sum(1).mean() > 0.1


def test_a_users_distance_in_two_dimensions_is_uniform_in_its_diamond() -> None:
    offset = many(Metric(COUNT, distance=manhattan), [0.0, 0.0], 0.4, Everywhere())
    assert looks_uniform((np.abs(offset).sum(1) / 0.4) ** 2)


def test_a_metric_reaches_beyond_its_radius_where_told() -> None:
    def halved(a: Tensor, b: Tensor) -> Tensor:
        return (a - b).abs().amax(-1) / 2

    placed = many(Metric(COUNT, distance=halved, reach=2.0), [0.0], 0.4, Everywhere())
    assert looks_uniform((placed[:, 0] + 0.8) / 1.6)


def test_a_metric_refuses_a_radius_per_dimension() -> None:
    with pytest.raises(OptionError, match="one radius, not one per dimension"):
        place(Metric(), torch.zeros(1, 2), [0.1, 0.2], Everywhere())


# How many


@pytest.mark.parametrize("support", [Demonstrated(), Ball(0), Box(0), Metric(0)])
def test_no_counterfactuals_leave_what_was_shown(support: Support) -> None:
    action = torch.tensor([[0.1, 0.2], [3.0, 4.0]])
    assert torch.equal(place(support, action, 0.4, UnitBox()), action.unsqueeze(1))


@pytest.mark.parametrize("kind", [Ball, Box, Metric])
def test_a_negative_count_is_refused(kind: type[Support]) -> None:
    with pytest.raises(OptionError, match="-1 counterfactuals were asked for; give 0 or more"):
        kind(count=-1)
