"""The residual body, against its formula, its stack and finite differences."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from counterbc.errors import OptionError
from counterbc.methods import Method
from counterbc.policies import Chunk, Flow, FlowCNN, Params
from counterbc.policies.residual import Residual, hidden_for, init_residual, residual_layers
from counterbc.settings import Settings
from tests.policies.numbers import assert_near, double, generator, normal


def layers_of(seed: int) -> Params:
    return double(init_residual(generator(seed), 4, (6, 6, 6), 2))


def test_layers_follow_their_formula() -> None:
    params, first = layers_of(0), normal(5, 6)

    def norm(h: Tensor) -> Tensor:
        spread = (h.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()
        return (h - h.mean(-1, keepdim=True)) / spread

    def gelu(x: Tensor) -> Tensor:
        return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))

    h = gelu(first)
    for i in (1, 2):
        h = h + gelu(norm(h) @ params[f"layer{i}.weight"] + params[f"layer{i}.bias"])
    torch.testing.assert_close(residual_layers(params, first, 3), norm(h), rtol=1e-12, atol=1e-12)


def test_one_layer_is_normalized_gelu() -> None:
    first = normal(5, 6)
    by_hand = functional.layer_norm(functional.gelu(first), (6,))
    torch.testing.assert_close(residual_layers(layers_of(0), first, 1), by_hand)


def test_stacked_networks_equal_a_loop_in_value_and_gradient() -> None:
    networks = [layers_of(seed) for seed in range(3)]
    stack = {k: torch.stack([p[k] for p in networks]).requires_grad_() for k in networks[0]}
    inside = [v for k, v in stack.items() if k.startswith(("layer1", "layer2"))]
    first = normal(3, 5, 6)
    together = residual_layers(stack, first, 3)
    looped = torch.stack([
        residual_layers({k: v[i] for k, v in stack.items()}, first[i], 3) for i in range(3)
    ])  # fmt: skip
    assert_near([together], [looped], 1e-12)
    first_gradient, second_gradient = (
        torch.autograd.grad((y**3).sum(), inside) for y in (together, looped)
    )
    assert_near(first_gradient, second_gradient, 1e-11)


def test_gradients_agree_with_finite_differences() -> None:
    params, first = layers_of(0), normal(3, 6)
    names = [k for k in params if k.startswith(("layer1", "layer2"))]

    def outputs(first: Tensor, *values: Tensor) -> Tensor:
        return residual_layers(dict(zip(names, values, strict=True)), first, 3)

    leaves = [x.requires_grad_() for x in (first, *(params[k] for k in names))]
    assert torch.autograd.gradcheck(outputs, leaves, eps=1e-6, atol=1e-6)


def test_initial_weights_are_uniform_within_the_root_of_their_inputs() -> None:
    params = init_residual(generator(), 100, (400, 400), 50)
    for name, inputs, scale in (("layer0", 100, 1), ("layer1", 400, 1), ("head", 400, 0.1)):
        bound, weight = scale / math.sqrt(inputs), params[f"{name}.weight"]
        assert 0.99 * bound < weight.abs().max().item() <= bound
        assert weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)
        assert not params[f"{name}.bias"].any()


KINDS: tuple[type[Residual], ...] = (Flow, Chunk, FlowCNN)


@pytest.mark.parametrize("kind", KINDS)
def test_layers_of_different_widths_are_refused(kind: type[Residual]) -> None:
    assert kind(hidden=(8, 8, 8)).widths == (8, 8, 8)
    with pytest.raises(OptionError, match=r"hidden is \(8, 4\).*same width"):
        kind(hidden=(8, 4))
    with pytest.raises(OptionError, match=r"hidden is \(0,\); give one positive width"):
        kind(hidden=(0,))


def test_layers_grow_with_the_number_of_pairs() -> None:
    assert hidden_for(1_999) == (128,) * 3
    assert hidden_for(2_000) == hidden_for(9_999) == (256,) * 3
    assert hidden_for(10_000) == hidden_for(None) == (512,) * 4


@pytest.mark.parametrize("kind", KINDS)
def test_layers_that_were_given_stay_even_if_they_are_the_largest(kind: type[Residual]) -> None:
    given = kind(hidden=hidden_for(None))
    assert given.sized(500) == given
    assert Settings().apply(Method(policy=given), pairs=500).policy == given
    assert kind(history=3).sized(500) == kind(history=3, hidden=hidden_for(500))
    assert kind().sized(None) == given
    assert kind().widths == given.hidden


@pytest.mark.parametrize("kind", [Flow, Chunk])
def test_a_policy_with_unknown_layers_has_the_largest(kind: type[Residual]) -> None:
    shapes = [
        {name: value.shape for name, value in policy.init(generator(), 3, 32).items()}
        for policy in (kind(), kind(hidden=hidden_for(None)))
    ]
    assert shapes[0] == shapes[1]
