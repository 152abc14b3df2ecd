"""Steps by plain torch: the definition, checked by hand and against one network alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS
from counterbc.policies import GaussianMLP
from counterbc.weightings import Uniform
from tests.kernels.stacks import advance, block, largest_difference, stack


@dataclass(frozen=True)
class AloneMLP(GaussianMLP):
    """The same policy, mapped over networks by vmap."""

    stacks: ClassVar[bool] = False


def test_a_step_moves_every_parameter_by_the_learning_rate_against_its_gradient(
    tiny: Demonstrations,
) -> None:
    networks = stack(tiny, "bc", kernel="torch", dtype=torch.float64)
    position, epoch = block(networks, 1)
    loss = networks.kernel.losses(networks.view.batch(position[0], epoch[0]))
    before = [p.detach().clone() for p in networks.adam.params]
    grads = torch.autograd.grad(loss.sum(), networks.adam.params)
    advance(networks, 1)
    torch.testing.assert_close(networks.loss, loss.detach(), rtol=1e-12, atol=0)
    for old, new, grad in zip(before, networks.adam.params, grads, strict=True):
        large = grad.abs() > 1e-4  # the first step of Adam is lr · g / (|g| + ε)
        changes = (new.detach() - old)[large]
        torch.testing.assert_close(changes, -1e-3 * grad.sign()[large], rtol=1e-3, atol=0)


def test_a_policy_that_does_not_stack_is_mapped_over_networks(tiny: Demonstrations) -> None:
    method = METHODS["counter-bc"]
    both_stacks = [
        stack(tiny, replace(method, policy=policy), kernel="torch", dtype=torch.float64)
        for policy in (GaussianMLP(), AloneMLP())
    ]
    for networks in both_stacks:
        advance(networks, 10)
    assert largest_difference(both_stacks[1], both_stacks[0]) < 1e-9


def test_losses_take_no_step(tiny: Demonstrations) -> None:
    networks = stack(tiny, replace(METHODS["bc"], weighting=Uniform()), kernel="torch")
    before = {name: value.clone() for name, value in networks.state().items()}
    position, epoch = block(networks, 1)
    networks.kernel.losses(networks.view.batch(position[0], epoch[0]))
    for name, value in networks.state().items():
        assert torch.equal(value, before[name])
