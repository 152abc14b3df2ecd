"""Stacked networks: their initial parameters, their state, and their held-out loss."""

from __future__ import annotations

import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.training.stacked_params import policy_params
from tests.kernels.stacks import advance, block, stack


@pytest.mark.parametrize("kernel", ["auto", "torch"])
def test_a_restored_state_continues_to_the_same_bits(kernel: str, tiny: Demonstrations) -> None:
    whole, stopped_run, resumed_run = (stack(tiny, kernel=kernel) for _ in range(3))
    position, epoch = block(whole, 6)
    whole.steps(position, epoch)
    stopped_run.steps(position[:4], epoch[:4])
    resumed_run.restore({name: value.clone() for name, value in stopped_run.state().items()})
    resumed_run.steps(position[4:], epoch[4:])
    for name, value in whole.state().items():
        assert torch.equal(resumed_run.state()[name], value), name


@pytest.mark.parametrize("method", ["bc", "counter-bc", "bc-rnn"])
def test_the_held_out_error_is_that_of_the_mean_action(method: str, tiny: Demonstrations) -> None:
    networks = stack(tiny, method, dtype=torch.float64)
    advance(networks, 3)
    count = int(networks.view.nets.lengths.min())
    position = torch.arange(count).expand(3, -1)
    batch = networks.view.batch(position, torch.zeros_like(position))
    policy = networks.view.method.policy
    mean, _ = torch.func.vmap(policy.head)(policy_params(networks.params), batch.obs)
    expected_error = ((mean - batch.actions[:, :, 0]) ** 2).sum(-1).mean(-1)
    torch.testing.assert_close(networks.held_out(networks.view), expected_error.detach())
