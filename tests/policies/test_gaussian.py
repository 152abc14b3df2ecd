"""The Gaussian head against torch's distribution."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from counterbc.losses import cross_entropy
from counterbc.policies import GaussianMLP
from tests.policies.numbers import generator, normal


def made_up_head() -> tuple[Tensor, Tensor]:
    return normal(6, 3).requires_grad_(), (0.5 * normal(6, 3, seed=1)).requires_grad_()


def test_log_prob_is_that_of_torch() -> None:
    mean, log_std = made_up_head()
    actions = normal(6, 11, 3, seed=2)
    torchs = torch.distributions.Normal(mean.unsqueeze(1), log_std.exp().unsqueeze(1))
    log_probs = GaussianMLP().log_prob((mean, log_std), actions)
    assert log_probs.shape == (6, 11)
    torch.testing.assert_close(log_probs, torchs.log_prob(actions).sum(-1), rtol=1e-12, atol=1e-12)


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
    samples = GaussianMLP().sample(head, torch.rand(40_000, 1, generator=generator()))
    assert samples.mean().item() == pytest.approx(0.3, abs=4 * 0.2 / 200)
    assert samples.std().item() == pytest.approx(0.2, abs=4 * 0.2 / math.sqrt(80_000))


def test_a_sample_carries_the_gradient_of_mean_and_spread() -> None:
    mean, log_std = made_up_head()
    u = torch.rand(6, 3, generator=generator(), dtype=torch.float64)
    samples = GaussianMLP().sample((mean, log_std), u)
    assert samples.shape == (6, 3)
    by_mean, by_log_std = torch.autograd.grad(samples.sum(), (mean, log_std))
    assert bool((by_mean == 1).all())
    torch.testing.assert_close(by_log_std, (samples - mean).detach())


def test_the_head_keeps_means_within_one_and_log_std_within_its_range() -> None:
    policy = GaussianMLP(hidden=(4,))
    params = policy.init(generator(), 2, 3)
    params["head.weight"] = torch.zeros(4, 6)
    params["head.bias"] = torch.tensor([-50.0, 0.0, 50.0, -50.0, 0.5, 50.0])
    mean, log_std = policy.head(params, torch.zeros(1, 2))
    assert mean.tolist() == [[-1, 0, 1]]
    assert log_std.tolist() == [[-20, 0.5, 2]]


class Narrow(GaussianMLP):
    """A subclass with another density."""

    def log_prob(self, head: tuple[Tensor, ...], actions: Tensor) -> Tensor:
        return super().log_prob((head[0], head[1] - 1), actions)


def test_a_subclass_with_another_density_is_not_trained_by_the_closed_form_of_its_parent() -> None:
    assert GaussianMLP.is_fused()
    assert not Narrow.is_fused()
    head, actions = made_up_head(), normal(6, 4, 3, seed=2)
    expected_loss = cross_entropy(Narrow().log_prob(head, actions))
    torch.testing.assert_close(Narrow().cross_entropy(head, actions), expected_loss)
