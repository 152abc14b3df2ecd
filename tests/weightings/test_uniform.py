"""Behavior cloning: every action of C(s, a) counts alike."""

from __future__ import annotations

import torch

from counterbc.weightings import Uniform
from tests.weightings.batches import batch


def test_the_demonstrated_action_alone_has_weight_one() -> None:
    weights = Uniform().weights({}, batch(torch.zeros(3, 2)), torch.randn(3, 1))
    assert weights.tolist() == [[1.0]] * 3


def test_four_actions_have_a_quarter_each() -> None:
    weights = Uniform().weights({}, batch(torch.zeros(2, 2), 4), torch.randn(2, 4))
    assert weights.tolist() == [[0.25] * 4] * 2


def test_only_one_action_has_a_closed_form() -> None:
    assert Uniform().uses_closed_form(1)
    assert not Uniform().uses_closed_form(2)
