"""The GRU of BC-RNN against torch.nn.GRU."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from counterbc.policies import Params
from counterbc.policies.gru import gru
from tests.policies.numbers import assert_near, normal
from tests.policies.torch_gru import BATCH, INPUTS, STEPS, UNITS, torchs


def leaf(*shape: int, seed: int) -> Tensor:
    return normal(*shape, seed=seed).requires_grad_()


def parameters() -> Params:
    return {
        "gru.input.weight": leaf(INPUTS, 3 * UNITS, seed=1),
        "gru.state.weight": leaf(UNITS, 3 * UNITS, seed=2),
        "gru.input.bias": leaf(3 * UNITS, seed=3),
        "gru.state.bias": leaf(3 * UNITS, seed=4),
    }


def stacked_gru(params: Params, obs: Tensor) -> Tensor:
    x = obs.transpose(0, 1) @ params["gru.input.weight"] + params["gru.input.bias"]
    return gru(x, params["gru.state.weight"], params["gru.state.bias"])


def ours_stacked(params: Params, obs: Tensor) -> Tensor:
    """The same as a stack of one network, whose gradient is written out."""
    x = obs.transpose(0, 1) @ params["gru.input.weight"] + params["gru.input.bias"]
    return gru(x[None], params["gru.state.weight"][None], params["gru.state.bias"][None])[0]


@pytest.mark.parametrize("form", [stacked_gru, ours_stacked])
@pytest.mark.parametrize("steps", [1, 2, STEPS])
def test_the_last_state_and_every_gradient_are_those_of_torch(
    steps: int, form: Callable[[Params, Tensor], Tensor]
) -> None:
    params, obs = parameters(), leaf(BATCH, steps, INPUTS, seed=0)
    actual, reference = form(params, obs), torchs(params, obs)
    torch.testing.assert_close(actual, reference, rtol=1e-12, atol=1e-12)
    direction, variables = normal(BATCH, UNITS, seed=9), [obs, *params.values()]
    gradients = torch.autograd.grad((actual * direction).sum(), variables)
    assert_near(gradients, torch.autograd.grad((reference * direction).sum(), variables), 1e-11)
    assert min(g.abs().max().item() for i, g in enumerate(gradients) if steps > 1 or i != 2) > 0


def test_the_gradient_agrees_with_finite_differences() -> None:
    x, weight, bias = leaf(2, 3, 2, 6, seed=0), leaf(2, 2, 6, seed=1), leaf(2, 6, seed=2)
    assert torch.autograd.gradcheck(gru, (x, weight, bias))


def test_stacked_networks_equal_a_loop_in_value_and_gradient() -> None:
    inputs = [leaf(4, 5, 2, 9, seed=0), leaf(4, 3, 9, seed=1), leaf(4, 9, seed=2)]
    stacked_states = gru(*inputs)
    looped = torch.stack([gru(*(g[i] for g in inputs)) for i in range(4)])
    torch.testing.assert_close(stacked_states, looped, rtol=1e-12, atol=1e-12)
    direction = normal(4, 2, 3, seed=5)
    gradients = torch.autograd.grad((looped * direction).sum(), inputs)
    assert_near(torch.autograd.grad((stacked_states * direction).sum(), inputs), gradients, 1e-11)
    mapped_states = torch.func.vmap(gru)(*inputs)
    assert_near(torch.autograd.grad((mapped_states * direction).sum(), inputs), gradients, 1e-11)
