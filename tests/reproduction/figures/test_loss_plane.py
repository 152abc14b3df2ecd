"""Figure 2: the loss of four policies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from reproduction.figures import loss_plane


def test_the_map_of_the_loss_has_the_number_of_its_title_where_the_action_was_shown() -> None:
    middle = len(loss_plane.LINE) // 2
    assert loss_plane.LINE[middle] == 0
    policy = loss_plane.DRAWN_POLICIES[0]
    values = loss_plane.plane(policy)
    assert values[middle, middle] == pytest.approx(loss_plane.losses()[policy.name])
    # Dimension 1 runs along the columns, and the mean is at (0.7, 0.5): nearer to (1, 0).
    assert values[middle, -1] < values[-1, middle]


def test_the_loss_depends_on_where_the_policy_lies_from_the_demonstrated_action() -> None:
    outside, *_, inside = loss_plane.DRAWN_POLICIES
    actions = torch.tensor([[0.1, -0.3], [0.9, 0.9]])
    shifted_actions = actions + torch.tensor(outside.mean) - torch.tensor(inside.mean)
    a, b = loss_plane.loss(inside, actions), loss_plane.loss(outside, shifted_actions)
    assert a.tolist() == pytest.approx(b.tolist(), rel=1e-3)


def test_the_loss_is_at_least_that_of_the_likeliest_action_of_the_disc() -> None:
    policy = loss_plane.PredictedPolicy("far", (0.0, 0.0), 0.1)
    value = float(loss_plane.loss(policy, torch.tensor([[1.0, 0.0]])))
    bound = 0.5 * (0.5 / 0.1) ** 2 + np.log(2 * np.pi * 0.1**2)  # half-way, on the rim
    assert bound < value < bound + 2


def test_the_loss_is_largest_when_confident_outside_and_least_when_confident_inside() -> None:
    values = list(loss_plane.losses().values())
    assert values == sorted(values, reverse=True)
    assert values[0] > 3 > 0 > values[-1]


def test_any_action_well_inside_the_set_is_as_good_as_the_demonstrated_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    last_policy = loss_plane.DRAWN_POLICIES[-1]
    at_demo = replace(last_policy, name="at the demonstrated action", mean=(0.0, 0.0), std=0.05)
    beside = replace(at_demo, name="beside it", mean=(0.2, -0.2))
    monkeypatch.setattr(loss_plane, "DRAWN_POLICIES", (at_demo, beside))
    a, b = loss_plane.losses().values()
    # Up to how many of the 2000 draws lie near; some 30 lie within two standard deviations.
    assert a == pytest.approx(b, abs=0.3)
