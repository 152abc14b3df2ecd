"""Counter-BC: the weight of an action is its probability within C(s, a)."""

from __future__ import annotations

import math

import torch

from counterbc.weightings import PolicyLikelihood
from tests.weightings.batches import batch


def test_weights_are_probabilities_within_the_set() -> None:
    log_pi = torch.tensor([[math.log(0.1), math.log(0.3)], [5.0, 5.0]])
    weights = PolicyLikelihood().weights({}, batch(torch.zeros(2, 1), 2), log_pi)
    torch.testing.assert_close(weights, torch.tensor([[0.25, 0.75], [0.5, 0.5]]))


def test_the_gradient_flows_through_the_weights() -> None:
    log_pi = torch.tensor([[0.0, 1.0]], requires_grad=True)
    weights = PolicyLikelihood().weights({}, batch(torch.zeros(1, 1), 2), log_pi)
    (grad,) = torch.autograd.grad(weights[0, 0], log_pi)
    p = float(weights[0, 0].detach())
    gradient = torch.tensor([[p * (1 - p), -p * (1 - p)]])  # of a softmax over two
    torch.testing.assert_close(grad, gradient)
