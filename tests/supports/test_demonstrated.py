"""Without counterfactuals the demonstrated action is all there is."""

from __future__ import annotations

import pytest
import torch

from counterbc.data.feasible import UnitBox
from counterbc.supports import Ball, Box, Demonstrated, Metric, Support
from tests.supports.placing import place


@pytest.mark.parametrize("support", [Demonstrated(), Ball(0), Box(0), Metric(0)])
def test_no_counterfactuals_leave_what_was_shown(support: Support) -> None:
    action = torch.tensor([[0.1, 0.2], [3.0, 4.0]])
    assert torch.equal(place(support, action, 0.4, UnitBox()), action.unsqueeze(1))


def test_demonstrated_actions_need_no_uniform_numbers() -> None:
    assert Demonstrated().draws(28, UnitBox()) == 0
