"""Chunks by regression and as a mixture, against the squared error and torch's own mixture."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal

from counterbc.errors import OptionError
from counterbc.methods import METHODS
from counterbc.policies import Chunk, GaussianMLP, Mixture, Params
from counterbc.policies.chunk import LOG_STD_RANGE, SIGMA
from counterbc.settings import Settings
from tests.policies.numbers import (
    assert_near,
    check_gradients,
    check_stack,
    double,
    generator,
    initial_params,
    normal,
)  # fmt: skip

S, D = 3, 6  # 3 steps of 2 actions
ONE = Chunk(hidden=(8, 8), horizon=3, execute=2)
THREE = Chunk(hidden=(8, 8), horizon=3, execute=2, modes=3)
both = pytest.mark.parametrize("policy", [ONE, THREE], ids=["one-mode", "three-modes"])


def fresh(policy: Chunk, seed: int = 0) -> Params:
    return initial_params(policy, S, D, seed)


def test_one_mode_learns_by_squared_error() -> None:
    params = {k: v.requires_grad_() for k, v in fresh(ONE).items()}
    head = ONE.head(params, normal(5, 2, S))
    action = normal(5, D, seed=1)
    loss = -ONE.log_prob(head, action.unsqueeze(1)).squeeze(1)
    square = (action - ONE.mean(head)).square().sum(-1)
    constant = D * (math.log(SIGMA) + 0.5 * math.log(2 * math.pi))
    torch.testing.assert_close(loss, square / (2 * SIGMA**2) + constant, rtol=1e-12, atol=0)
    leaves = list(params.values())
    by_density, by_error = (
        torch.autograd.grad(x.sum(), leaves, retain_graph=True) for x in (loss, square)
    )
    assert_near(by_density, [g / (2 * SIGMA**2) for g in by_error], 1e-12)


def test_the_mean_of_a_tiny_network_is_that_computed_by_hand() -> None:
    policy = Chunk(hidden=(2,), history=1, horizon=2, execute=1)
    params = {k: torch.zeros_like(v) for k, v in double(policy.init(generator(), 1, 2)).items()}
    params["layer0.weight"][0, 0] = 1.0
    params["head.weight"][:] = torch.tensor([[3.0, 1.0], [0.0, 2.0]])
    params["head.bias"][:] = torch.tensor([0.5, -0.5])
    # The norm of (GELU(1), 0) is (g, −g) with g near 1.
    half = 0.25 * (1 + math.erf(1 / math.sqrt(2)))
    g = half / math.sqrt(half**2 + 1e-5)
    mean = policy.mean(policy.head(params, torch.ones(1, 1, dtype=torch.float64)))
    assert mean.tolist()[0] == pytest.approx([3 * g + 0.5, g - 2 * g - 0.5], rel=1e-12)


def test_several_modes_are_the_mixture_of_torch() -> None:
    log_w, mean, log_std = head = THREE.head(fresh(THREE), normal(5, 2, S))
    actions = normal(5, 4, D, seed=1)
    modes = Independent(Normal(mean, log_std.exp()), 1)
    torchs = MixtureSameFamily(Categorical(logits=log_w), modes)
    expected = torchs.log_prob(actions.transpose(0, 1)).T
    torch.testing.assert_close(THREE.log_prob(head, actions), expected, rtol=1e-12, atol=0)
    heaviest = torch.stack([mean[i, k] for i, k in enumerate(log_w.argmax(-1))])
    assert torch.equal(THREE.mean(head), heaviest)


def test_modes_that_contribute_nothing_have_no_gradient_and_the_others_keep_theirs() -> None:
    mean = torch.tensor([[[0.0], [1.0], [100.0]]], dtype=torch.float64, requires_grad=True)
    log_w, log_std = torch.zeros(1, 3).double().log_softmax(-1), torch.zeros(1, 3, 1).double()
    policy, actions = Chunk(modes=3), torch.zeros(1, 1, 1, dtype=torch.float64)
    log_pi = policy.log_prob((log_w, mean, log_std), actions)
    (gradient,) = torch.autograd.grad(log_pi.sum(), mean)
    share = math.exp(-0.5) / (1 + math.exp(-0.5))
    assert gradient.flatten().tolist() == pytest.approx([0, -share, 0], rel=1e-12)
    assert gradient[0, 2].item() == 0
    exact = math.log((1 + math.exp(-0.5)) / 3) - 0.5 * math.log(2 * math.pi)
    assert log_pi.item() == pytest.approx(exact, rel=1e-12)


@both
def test_stacked_networks_equal_a_loop_in_value_and_gradient(policy: Chunk) -> None:
    obs, actions = normal(3, 5, 2, S), normal(3, 5, 4, D, seed=1)
    u = torch.rand(3, 5, D, generator=generator(), dtype=torch.float64)

    def outputs(params: Params, obs: Tensor, actions: Tensor, u: Tensor) -> tuple[Tensor, ...]:
        head = policy.head(params, obs)
        return policy.log_prob(head, actions), policy.sample(head, u), policy.mean(head)

    check_stack([fresh(policy, seed) for seed in range(3)], outputs, obs, actions, u)


@both
def test_gradients_agree_with_finite_differences(policy: Chunk) -> None:
    obs, actions = normal(2, 2, S), normal(2, 3, D, seed=1)

    def loss(params: Params) -> Tensor:
        return policy.cross_entropy(policy.head(params, obs), actions).sum()

    check_gradients(fresh(policy), loss, atol=1e-5, fast_mode=True)


@both
def test_counter_bc_among_equal_actions_is_the_plain_loss(policy: Chunk) -> None:
    params = {k: v.requires_grad_() for k, v in fresh(policy).items()}
    obs, action = normal(5, 2, S), normal(5, 1, D, seed=1)
    plain, counter = (
        policy.cross_entropy(policy.head(params, obs), action.expand(5, count, D))
        for count in (1, 4)
    )
    torch.testing.assert_close(counter, plain, rtol=1e-12, atol=0)
    leaves = list(params.values())
    expected, gradient = (torch.autograd.grad(x.sum(), leaves) for x in (plain, counter))
    assert_near(gradient, expected, 1e-11)


def test_modes_start_apart_in_the_same_way_at_each_step_of_a_chunk() -> None:
    params = THREE.init(generator(), S, D)
    params["head.weight"].zero_()
    log_w, mean, log_std = THREE.head(params, torch.zeros(1, 2, S))
    assert log_w.exp()[0].tolist() == pytest.approx([1 / 3] * 3)
    steps = mean[0].reshape(3, 3, 2)  # (K, H, A)
    assert torch.equal(steps, steps[:, :1].expand(3, 3, 2))
    for column in steps[:, 0].T:
        assert column.sort().values.tolist() == pytest.approx([-0.8, 0, 0.8])
    assert log_std.unique().tolist() == pytest.approx([-math.log(3)])


def test_widths_of_modes_are_limited_and_means_are_not() -> None:
    params = THREE.init(generator(), S, D)
    for bias, bound in ((-100.0, LOG_STD_RANGE[0]), (100.0, LOG_STD_RANGE[1])):
        params["head.bias"].fill_(bias)
        _, mean, log_std = THREE.head(params, torch.zeros(1, 2, S))
        assert log_std.unique().tolist() == [bound]
        assert mean.abs().min() > 90


@pytest.mark.parametrize("modes", [1, 2])
def test_two_modes_are_learned_and_one_mode_finds_their_average(modes: int) -> None:
    policy = Chunk(hidden=(32, 32), history=1, horizon=2, execute=1, modes=modes)
    params = policy.init(generator(), 1, 2)
    leaves = [p.requires_grad_() for p in params.values()]
    adam, draws = torch.optim.Adam(leaves, lr=3e-3), generator(1)
    for _ in range(200):
        obs = torch.rand(256, 1, generator=draws) - 0.5
        side = torch.randint(2, (256, 1), generator=draws) * 2 - 1
        actions = obs + side + 0.1 * torch.randn(256, 2, generator=draws)
        adam.zero_grad()
        (-policy.log_prob(policy.head(params, obs), actions.unsqueeze(1))).mean().backward()
        adam.step()
    _, mean, log_std = policy.head(params, torch.full((1, 1), 0.25))
    means = sorted(mean.detach()[0].mean(-1).tolist())
    assert means == pytest.approx([0.25] if modes == 1 else [-0.75, 1.25], abs=0.15)
    width = SIGMA if modes == 1 else 0.1
    assert log_std.exp().detach().mean().item() == pytest.approx(width, rel=0.3)


def test_no_native_kernel_takes_a_chunk_for_a_plain_mixture() -> None:
    assert Chunk(horizon=1, execute=1, history=1, modes=5).chain() == ()


def test_options_choose_modes_and_layers() -> None:
    assert Settings(policy="chunk").apply(METHODS["bc"]).policy == Chunk().sized(None)
    four = Settings(policy="chunk", modes=4).apply(METHODS["counter-bc"]).policy
    assert four == Chunk(modes=4).sized(None)
    assert (ONE.one_step(), THREE.one_step()) == (GaussianMLP(), Mixture(modes=3))
    with pytest.raises(OptionError, match="modes is 0"):
        Chunk(modes=0)
