"""The GRU of BC-RNN against torch.nn.GRU."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from counterbc.policies import GaussianGRU, Params
from counterbc.policies.gru import gru

UNITS, STEPS, BATCH, INPUTS = 6, 5, 7, 3


def normal(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def leaf(*shape: int, seed: int) -> Tensor:
    return normal(*shape, seed=seed).requires_grad_()


def torchs(params: Params, obs: Tensor) -> Tensor:
    """The last state by torch.nn.GRU, from our parameters, with the graph kept."""
    module = nn.GRU(INPUTS, UNITS, batch_first=True, dtype=torch.float64)
    theirs = {
        "weight_ih_l0": params["gru.input.weight"].T,
        "weight_hh_l0": params["gru.state.weight"].T,
        "bias_ih_l0": params["gru.input.bias"],
        "bias_hh_l0": params["gru.state.bias"],
    }
    _, last = torch.func.functional_call(module, theirs, obs)
    return last.squeeze(0)  # type: ignore[no-any-return]  # functional_call is untyped


def parameters() -> Params:
    return {
        "gru.input.weight": leaf(INPUTS, 3 * UNITS, seed=1),
        "gru.state.weight": leaf(UNITS, 3 * UNITS, seed=2),
        "gru.input.bias": leaf(3 * UNITS, seed=3),
        "gru.state.bias": leaf(3 * UNITS, seed=4),
    }


def ours(params: Params, obs: Tensor) -> Tensor:
    x = obs.transpose(0, 1) @ params["gru.input.weight"] + params["gru.input.bias"]
    return gru(x, params["gru.state.weight"], params["gru.state.bias"])


def ours_stacked(params: Params, obs: Tensor) -> Tensor:
    """The same as a stack of one network, whose gradient is written out."""
    x = obs.transpose(0, 1) @ params["gru.input.weight"] + params["gru.input.bias"]
    return gru(x[None], params["gru.state.weight"][None], params["gru.state.bias"][None])[0]


@pytest.mark.parametrize("form", [ours, ours_stacked])
@pytest.mark.parametrize("steps", [1, 2, STEPS])
def test_the_last_state_and_every_gradient_are_those_of_torch(
    steps: int, form: Callable[[Params, Tensor], Tensor]
) -> None:
    params, obs = parameters(), leaf(BATCH, steps, INPUTS, seed=0)
    mine, theirs = form(params, obs), torchs(params, obs)
    torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-12)
    direction, variables = normal(BATCH, UNITS, seed=9), [obs, *params.values()]
    gradients = torch.autograd.grad((mine * direction).sum(), variables)
    torch.testing.assert_close(
        gradients,
        torch.autograd.grad((theirs * direction).sum(), variables),
        rtol=1e-10,
        atol=1e-10,
    )
    assert min(g.abs().max().item() for i, g in enumerate(gradients) if steps > 1 or i != 2) > 0


def test_the_gradient_agrees_with_finite_differences() -> None:
    x, weight, bias = leaf(2, 3, 2, 6, seed=0), leaf(2, 2, 6, seed=1), leaf(2, 6, seed=2)
    assert torch.autograd.gradcheck(gru, (x, weight, bias))


def test_stacked_networks_equal_a_loop_in_value_and_gradient() -> None:
    given = [leaf(4, 5, 2, 9, seed=0), leaf(4, 3, 9, seed=1), leaf(4, 9, seed=2)]
    stacked = gru(*given)
    looped = torch.stack([gru(*(g[i] for g in given)) for i in range(4)])
    torch.testing.assert_close(stacked, looped, rtol=1e-12, atol=1e-12)
    direction = normal(4, 2, 3, seed=5)
    gradients = torch.autograd.grad((looped * direction).sum(), given)
    torch.testing.assert_close(
        torch.autograd.grad((stacked * direction).sum(), given), gradients, rtol=1e-10, atol=1e-10
    )
    mapped = torch.func.vmap(gru)(*given)
    torch.testing.assert_close(
        torch.autograd.grad((mapped * direction).sum(), given), gradients, rtol=1e-10, atol=1e-10
    )


def double(policy: GaussianGRU, seed: int = 0) -> Params:
    generator = torch.Generator().manual_seed(seed)
    return {k: v.double() for k, v in policy.init(generator, INPUTS, 2).items()}


def test_the_policy_is_torchs_gru_then_layers_then_the_head() -> None:
    policy = GaussianGRU(hidden=(UNITS, 4))
    params, obs = double(policy), normal(BATCH, 5, INPUTS)
    x = (torchs(params, obs) @ params["layer0.weight"] + params["layer0.bias"]).relu()
    raw = x @ params["head.weight"] + params["head.bias"]
    mean, log_std = policy.head(params, obs)
    torch.testing.assert_close(mean, raw[:, :2].tanh(), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(log_std, raw[:, 2:], rtol=1e-12, atol=1e-12)


def test_what_lies_before_the_start_is_zeros_and_not_nothing() -> None:
    """A window of zeros then s differs from s alone, because biases move the state."""
    policy = GaussianGRU(hidden=(UNITS,))
    params, obs = double(policy), torch.zeros(1, 5, INPUTS, dtype=torch.float64)
    obs[:, -1] = normal(1, INPUTS)
    mean, _ = policy.head(params, obs)
    raw = torchs(params, obs) @ params["head.weight"] + params["head.bias"]
    torch.testing.assert_close(mean, raw[:, :2].tanh(), rtol=1e-12, atol=1e-12)


def test_every_observation_of_the_window_counts_and_in_its_order() -> None:
    policy = GaussianGRU(hidden=(UNITS,))
    params, window = double(policy), normal(1, 5, INPUTS)
    before = policy.head(params, window)[0]
    for t in range(5):
        changed = window.clone()
        changed[:, t] += 1
        assert (policy.head(params, changed)[0] - before).abs().max().item() > 1e-6
    assert (policy.head(params, window.flip(1))[0] - before).abs().max().item() > 1e-6


def test_a_gru_that_reads_one_observation_takes_it_as_any_policy_does() -> None:
    policy = GaussianGRU(hidden=(UNITS,), history=1)
    params, obs = double(policy), normal(BATCH, INPUTS)
    mean, _ = policy.head(params, obs)
    raw = torchs(params, obs.unsqueeze(1)) @ params["head.weight"] + params["head.bias"]
    torch.testing.assert_close(mean, raw[:, :2].tanh(), rtol=1e-12, atol=1e-12)
