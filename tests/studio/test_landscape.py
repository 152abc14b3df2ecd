"""The loss landscape is eq. M4 of the paper."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from counterbc.losses import cross_entropy
from counterbc.studio.landscape import SIDE, landscape
from reproduction.figures import loss_plane


def test_the_loss_without_a_radius_is_minus_log_pi() -> None:
    mean, std = np.array([0.3, -0.2]), np.array([0.4, 0.5])
    result = landscape(np.array([0.1, 0.2]), mean, std, 0.0, (0, 1))
    z = (np.array([0.1, 0.2]) - mean) / std
    reference = 0.5 * (z @ z) + np.log(std).sum() + np.log(2 * np.pi)
    assert result["here"] == pytest.approx(reference, rel=1e-6)
    assert np.shape(result["loss"]) == (SIDE, SIDE)


def test_the_first_dimension_runs_along_the_rows_of_the_picture() -> None:
    mean, std = np.array([0.8, 0.0]), np.array([0.1, 0.4])
    result = landscape(np.zeros(2), mean, std, 0.0, (0, 1))
    row, column = np.unravel_index(np.argmin(result["loss"]), (SIDE, SIDE))
    assert result["line"][column] == pytest.approx(0.8, abs=0.05)
    assert result["line"][row] == pytest.approx(0.0, abs=0.05)


def test_it_agrees_with_figure_2_of_the_reproduction() -> None:
    for policy in loss_plane.DRAWN_POLICIES:
        mean, std = np.array(policy.mean), np.full(2, policy.std)
        loss_here = landscape(np.zeros(2), mean, std, loss_plane.RADIUS, (0, 1))["here"]
        reference = float(loss_plane.loss(policy, torch.zeros(1, 2)))
        assert loss_here == pytest.approx(reference, abs=0.15 * (1 + abs(reference)))
    assert float(cross_entropy(torch.tensor([[0.0, 0.0]]))) == 0.0


def test_a_single_dimension_gives_a_curve() -> None:
    result = landscape(np.array([0.1]), np.array([0.5]), np.array([0.2]), 0.3, (0,))
    assert np.shape(result["loss"]) == (SIDE,)
    assert result["line"][int(np.argmin(result["loss"]))] == pytest.approx(0.5, abs=0.3)
