"""The Gaussian head and the network before it, against torch's own."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from counterbc.errors import OptionError
from counterbc.policies import GaussianGRU, GaussianMLP, Params, Policy


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def made_up_head() -> tuple[Tensor, Tensor]:
    return normal(6, 3).requires_grad_(), (0.5 * normal(6, 3, seed=1)).requires_grad_()


def double(params: Params) -> Params:
    return {k: v.double() for k, v in params.items()}


def test_log_prob_is_that_of_torch() -> None:
    mean, log_std = made_up_head()
    actions = normal(6, 11, 3, seed=2)
    torchs = torch.distributions.Normal(mean.unsqueeze(1), log_std.exp().unsqueeze(1))
    ours = GaussianMLP().log_prob((mean, log_std), actions)
    assert ours.shape == (6, 11)
    torch.testing.assert_close(ours, torchs.log_prob(actions).sum(-1), rtol=1e-12, atol=1e-12)


def test_log_prob_of_a_standard_normal_at_its_mean_by_hand() -> None:
    head = (torch.zeros(1, 2), torch.zeros(1, 2))
    assert GaussianMLP().log_prob(head, torch.zeros(1, 1, 2)).item() == pytest.approx(
        -math.log(2 * math.pi)
    )


def test_the_mean_is_the_mean_and_a_sample_is_a_quantile() -> None:
    policy, head = GaussianMLP(), (torch.tensor([[0.5]]), torch.tensor([[2.0]]).log())
    assert policy.mean(head).tolist() == [[0.5]]
    # The 84.13 % quantile lies one standard deviation above the mean.
    assert policy.sample(head, torch.tensor([[0.8413447]])).item() == pytest.approx(2.5, abs=1e-5)
    assert policy.sample(head, torch.tensor([[0.5]])).item() == pytest.approx(0.5, abs=1e-6)


def test_samples_have_the_mean_and_spread_of_the_policy() -> None:
    head = (torch.full((40_000, 1), 0.3), torch.full((40_000, 1), math.log(0.2)))
    drawn = GaussianMLP().sample(head, torch.rand(40_000, 1, generator=generator()))
    assert drawn.mean().item() == pytest.approx(0.3, abs=4 * 0.2 / 200)
    assert drawn.std().item() == pytest.approx(0.2, abs=4 * 0.2 / math.sqrt(80_000))


def test_a_sample_carries_the_gradient_of_mean_and_spread() -> None:
    mean, log_std = made_up_head()
    u = torch.rand(6, 3, generator=generator(), dtype=torch.float64)
    drawn = GaussianMLP().sample((mean, log_std), u)
    assert drawn.shape == (6, 3)
    by_mean, by_log_std = torch.autograd.grad(drawn.sum(), (mean, log_std))
    assert bool((by_mean == 1).all())
    torch.testing.assert_close(by_log_std, (drawn - mean).detach())


def test_the_head_keeps_means_within_one_and_log_std_within_its_range() -> None:
    policy = GaussianMLP(hidden=(4,))
    params = policy.init(generator(), 2, 3)
    params["head.weight"] = torch.zeros(4, 6)
    params["head.bias"] = torch.tensor([-50.0, 0.0, 50.0, -50.0, 0.5, 50.0])
    mean, log_std = policy.head(params, torch.zeros(1, 2))
    assert mean.tolist() == [[-1, 0, 1]]
    assert log_std.tolist() == [[-20, 0.5, 2]]


def test_the_mlp_is_a_plain_chain_of_layers() -> None:
    policy, obs = GaussianMLP(hidden=(7, 5)), normal(9, 4)
    params = double(policy.init(generator(), 4, 2))
    layers: list[nn.Module] = []
    for name, activation in (("layer0", nn.ReLU()), ("layer1", nn.ReLU()), ("head", nn.Identity())):
        inputs, outputs = params[f"{name}.weight"].shape
        layer = nn.Linear(inputs, outputs, dtype=torch.float64)
        layer.load_state_dict(
            {"weight": params[f"{name}.weight"].T, "bias": params[f"{name}.bias"]}
        )
        layers += [layer, activation]
    raw = nn.Sequential(*layers)(obs)
    mean, log_std = policy.head(params, obs)
    torch.testing.assert_close(mean, raw[:, :2].tanh(), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(log_std, raw[:, 2:], rtol=1e-12, atol=1e-12)


def test_an_mlp_with_a_history_reads_it_as_one_long_vector() -> None:
    policy = GaussianMLP(hidden=(7,), history=3)
    params = double(policy.init(generator(), 4, 2))
    assert params["layer0.weight"].shape == (12, 7)
    window = normal(9, 3, 4)
    flat = GaussianMLP(hidden=(7,)).head(params, window.reshape(9, 12))
    torch.testing.assert_close(policy.head(params, window), flat)


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


@pytest.mark.parametrize("policy", [GaussianMLP(), GaussianGRU()])
def test_weights_are_a_function_of_the_generator(policy: Policy) -> None:
    first, again, other = (policy.init(generator(s), 3, 2) for s in (0, 0, 1))
    assert all(torch.equal(first[k], again[k]) for k in first)
    assert not torch.equal(first["head.weight"], other["head.weight"])


@pytest.mark.parametrize(
    "policy",
    [GaussianMLP(hidden=(8, 8)), GaussianMLP(hidden=(8,), history=3), GaussianGRU(hidden=(8, 8))],
)
def test_stacked_and_mapped_networks_equal_a_loop_in_value_and_gradient(policy: Policy) -> None:
    each = [double(policy.init(generator(s), 3, 2)) for s in range(4)]
    stacked = {k: torch.stack([p[k] for p in each]).requires_grad_() for k in each[0]}
    shape = (5, 3) if policy.history == 1 else (5, policy.history, 3)
    obs, actions = normal(4, *shape), normal(4, 5, 6, 2, seed=1)

    def loss(params: Params, obs: Tensor, actions: Tensor) -> Tensor:
        return policy.log_prob(policy.head(params, obs), actions).square().sum((-1, -2))

    looped = torch.stack(
        [loss({k: v[i] for k, v in stacked.items()}, obs[i], actions[i]) for i in range(4)]
    )
    wanted = torch.autograd.grad(looped.sum(), list(stacked.values()))
    for all_at_once in (loss, torch.func.vmap(loss)):
        got = all_at_once(stacked, obs, actions)
        torch.testing.assert_close(got, looped, rtol=1e-12, atol=0)
        gradient = torch.autograd.grad(got.sum(), list(stacked.values()))
        torch.testing.assert_close(gradient, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("hidden", [(), (0,), (8, -1)])
def test_layers_without_units_are_refused(hidden: tuple[int, ...]) -> None:
    with pytest.raises(OptionError, match="give one positive width per layer"):
        GaussianMLP(hidden=hidden)


def test_a_policy_that_reads_nothing_is_refused() -> None:
    with pytest.raises(OptionError, match="history is 0"):
        GaussianMLP(history=0)
