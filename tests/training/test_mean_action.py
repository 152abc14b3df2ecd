"""The error of always taking the mean learned action."""

from __future__ import annotations

import pytest
import torch

from counterbc.acting.member import Member
from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS
from counterbc.settings import settings_for
from counterbc.training.mean_action import mean_action_error
from counterbc.training.plan import plan_training
from counterbc.training.run import plan_view


def test_the_error_is_the_distance_to_the_mean_of_the_learned_actions(tiny: Demonstrations) -> None:
    learned, held_out = tiny.split(0.5, seed=0)
    members = [Member(seed, (0.0,) * tiny.action.shape[1]) for seed in (0, 1)]
    settings = settings_for("default", hidden=(4,), steps=1)
    plan = plan_training([learned], METHODS["bc"], settings, members, held_out=(held_out,))
    views = [
        plan_view(plan, torch.device("cpu"), torch.float64, held_out=is_held)
        for is_held in (False, True)
    ]
    scales = plan.scales.map(lambda x: x.double())
    actions = [scales.action(torch.tensor(d.action).double()[None])[0] for d in (learned, held_out)]
    expected_error = ((actions[1] - actions[0].mean(0)) ** 2).sum(-1).mean()
    assert mean_action_error(*views).tolist() == pytest.approx([float(expected_error)] * 2)
