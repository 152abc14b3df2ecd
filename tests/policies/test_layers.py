"""Dense layers, their stacked form and their initial weights."""

from __future__ import annotations

import math

import pytest
import torch

from counterbc.policies import GaussianMLP
from counterbc.policies.layers import dense, linear, relu_chain
from tests.policies.numbers import assert_near, double, generator, normal


def test_weights_begin_by_glorot_with_each_head_on_its_own_and_biases_at_zero() -> None:
    params = GaussianMLP(hidden=(50, 30)).init(generator(), 20, 3)
    assert {k: tuple(v.shape) for k, v in params.items()} == {
        "layer0.weight": (20, 50), "layer0.bias": (50,),
        "layer1.weight": (50, 30), "layer1.bias": (30,),
        "head.weight": (30, 6), "head.bias": (6,),
    }  # fmt: skip
    for name, inputs, outputs in (("layer0", 20, 50), ("layer1", 50, 30), ("head", 30, 3)):
        bound = math.sqrt(6 / (inputs + outputs))
        weight = params[f"{name}.weight"]
        assert 0.9 * bound < weight.abs().max().item() <= bound
        assert weight.mean().item() == pytest.approx(
            0, abs=4 * bound / math.sqrt(3 * weight.numel())
        )
        assert bool((params[f"{name}.bias"] == 0).all())


def test_a_linear_layer_by_hand() -> None:
    x, weight = torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 0.0], [3.0, -1.0]])
    assert linear(x, weight, torch.tensor([0.5, 0.0])).tolist() == [[7.5, -2.0]]


def test_a_stacked_chain_equals_each_chain_alone_in_value_and_gradient() -> None:
    networks = [double(dense(generator(s), (3, 8, 5), "layer")) for s in range(4)]
    stack = {k: torch.stack([n[k] for n in networks]).requires_grad_() for k in networks[0]}
    x = normal(4, 6, 3).requires_grad_()
    leaves = [x, *stack.values()]
    together = relu_chain(stack, x, "layer", 2)
    looped = torch.stack(
        [relu_chain({k: v[i] for k, v in stack.items()}, x[i], "layer", 2) for i in range(4)]
    )
    torch.testing.assert_close(together, looped, rtol=1e-12, atol=1e-12)
    gradients = [torch.autograd.grad(y.square().sum(), leaves) for y in (together, looped)]
    assert_near(gradients[0], gradients[1], share=1e-11)
