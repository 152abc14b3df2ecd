"""The likelihood of censored actions: by hand, against scipy, and its gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from scipy import special, stats
from torch import Tensor

from counterbc.errors import OptionError
from counterbc.policies import GaussianMLP, Mixture, Policy
from counterbc.policies.censored import log_ndtr
from tests.policies.numbers import normal


def log_prob(policy: Policy, head: tuple[Tensor, ...], action: float, side: float) -> float:
    actions = torch.full((1, 1, 1), action, dtype=torch.float64)
    sides = torch.full((1, 1), side, dtype=torch.float64)
    return policy.censored_log_prob(head, actions, sides).item()


def gaussian(mean: float, std: float) -> tuple[Tensor, Tensor]:
    head = torch.tensor([[[mean]], [[std]]], dtype=torch.float64)
    return head[0], head[1].log()


def test_an_action_on_a_bound_has_the_probability_of_its_side_by_hand() -> None:
    policy, head = GaussianMLP(), gaussian(0.5, 0.5)
    assert log_prob(policy, head, 1.0, 1) == pytest.approx(math.log(0.15865525393145707))
    assert log_prob(policy, head, -1.0, -1) == pytest.approx(math.log(0.0013498980316300933))
    assert log_prob(policy, head, 1.0, 0) == pytest.approx(stats.norm.logpdf(1.0, 0.5, 0.5))


def test_all_that_can_be_recorded_has_probability_one() -> None:
    head = gaussian(0.4, 0.7)
    inside = np.linspace(-1, 1, 2001)
    density = [math.exp(log_prob(GaussianMLP(), head, a, 0)) for a in inside]
    at_bounds = [math.exp(log_prob(GaussianMLP(), head, s, s)) for s in (-1.0, 1.0)]
    assert np.trapezoid(density, inside) + sum(at_bounds) == pytest.approx(1, rel=1e-6)


def test_log_ndtr_is_that_of_scipy_and_keeps_its_gradient_in_the_tail() -> None:
    x = torch.tensor([-3e4, -300.0, -20.0, -3.0, -0.1, 0.0, 0.1, 3.0, 20.0], requires_grad=True)
    value = log_ndtr(x)
    values = special.log_ndtr(x.detach().double().numpy())
    torch.testing.assert_close(value.double(), torch.tensor(values), rtol=1e-5, atol=1e-7)
    (slope,) = torch.autograd.grad(value.sum(), x)
    z = x.detach().double().numpy()
    mills = np.sqrt(2 / np.pi) / special.erfcx(-z / np.sqrt(2))  # φ(x) / Φ(x)
    torch.testing.assert_close(slope.double(), torch.tensor(mills), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("side", [-1.0, 0.0, 1.0])
def test_the_gradient_agrees_with_finite_differences(side: float) -> None:
    sides = torch.full((4, 2), side, dtype=torch.float64)
    sides[:, 1] = 0
    actions = normal(4, 3, 2, seed=1).tanh()
    mean, log_std = normal(4, 2, seed=2).requires_grad_(), normal(4, 2, seed=3).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda *head: GaussianMLP().censored_log_prob(head, actions, sides), (mean, log_std)
    )
    log_w = normal(4, 2, seed=4).log_softmax(-1).requires_grad_()
    means, log_stds = (normal(4, 2, 2, seed=s).requires_grad_() for s in (5, 6))
    assert torch.autograd.gradcheck(
        lambda *head: Mixture(modes=2).censored_log_prob(head, actions, sides),
        (log_w, means, log_stds),
    )


def test_without_a_censored_dimension_it_is_the_density() -> None:
    head, actions = (normal(5, 2), normal(5, 2, seed=1)), normal(5, 7, 2, seed=2)
    sides = torch.zeros(5, 2, dtype=torch.float64)
    plain = GaussianMLP().log_prob(head, actions)
    torch.testing.assert_close(GaussianMLP().censored_log_prob(head, actions, sides), plain)
    modes = (normal(5, 3).log_softmax(-1), normal(5, 3, 2), normal(5, 3, 2, seed=1))
    plain = Mixture(modes=3).log_prob(modes, actions)
    torch.testing.assert_close(Mixture(modes=3).censored_log_prob(modes, actions, sides), plain)


def test_a_mixture_adds_the_probabilities_of_its_gaussians() -> None:
    log_w = torch.tensor([[0.25, 0.75]], dtype=torch.float64).log()
    mean = torch.tensor([[[0.5], [2.0]]], dtype=torch.float64)
    log_std = torch.tensor([[[0.5], [1.0]]], dtype=torch.float64).log()
    expected = 0.25 * stats.norm.cdf(-1) + 0.75 * stats.norm.cdf(1)
    value = log_prob(Mixture(modes=2), (log_w, mean, log_std), 1.0, 1)
    assert value == pytest.approx(math.log(expected))


@dataclass(frozen=True)
class OtherDensity(GaussianMLP):
    """A Gaussian with another density, whose probabilities nobody defined."""

    def log_prob(self, head: tuple[Tensor, ...], actions: Tensor) -> Tensor:
        return 2 * super().log_prob(head, actions)


def test_a_policy_with_another_density_is_refused() -> None:
    with pytest.raises(
        OptionError, match=r"OtherDensity has no likelihood of censored actions; define "
    ):
        log_prob(OtherDensity(), gaussian(0.0, 1.0), 1.0, 1)
