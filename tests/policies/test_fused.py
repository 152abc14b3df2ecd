"""The closed form against autograd of the plain composition."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from counterbc.losses import cross_entropy
from counterbc.policies import GaussianMLP
from counterbc.policies.fused import closed_form, gaussian_cross_entropy
from tests.policies.numbers import assert_near

Three = tuple[Tensor, Tensor, Tensor]


def normal(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def inputs(states: int = 13, count: int = 51, size: int = 3) -> Three:
    """Means, log standard deviations and actions, in float64."""
    return (
        normal(states, size).tanh(),
        normal(states, size, seed=1) - 1,
        normal(states, count, size, seed=2),
    )


def plain(mean: Tensor, log_std: Tensor, actions: Tensor) -> Three:
    """The loss of each state and its gradients, by autograd in float64."""
    mean, log_std = (x.double().detach().requires_grad_() for x in (mean, log_std))
    loss = cross_entropy(GaussianMLP().log_prob((mean, log_std), actions.double()))
    by_mean, by_log_std = torch.autograd.grad(loss.sum(), (mean, log_std))
    return loss.detach(), by_mean, by_log_std


def single(three: Three) -> Three:
    return three[0].float(), three[1].float(), three[2].float()


@pytest.mark.parametrize(("count", "size"), [(51, 1), (51, 2), (51, 7), (1, 3), (2, 28)])
def test_the_closed_form_equals_autograd_in_float64(count: int, size: int) -> None:
    tensors = inputs(count=count, size=size)
    for closed_value, exact in zip(closed_form(*tensors), plain(*tensors), strict=True):
        scale = exact.abs().max().item()
        torch.testing.assert_close(closed_value, exact, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize(("count", "size"), [(51, 1), (51, 2), (51, 7), (1, 3), (2, 28)])
def test_the_closed_form_equals_autograd_in_float32(count: int, size: int) -> None:
    tensors = single(inputs(count=count, size=size))
    for closed_value, exact in zip(closed_form(*tensors), plain(*tensors), strict=True):
        scale = exact.abs().max().item()
        torch.testing.assert_close(closed_value.double(), exact, rtol=1e-5, atol=1e-5 * scale)


@pytest.mark.parametrize("log_std", [-20.0, -8.0, 2.0])
@pytest.mark.parametrize("shift", [0.0, 1.0, 1000.0])
def test_extreme_spreads_and_actions_stay_finite(log_std: float, shift: float) -> None:
    mean, _, actions = single(inputs())
    for part in closed_form(mean, torch.full_like(mean, log_std), actions + shift):
        assert bool(part.isfinite().all())


@pytest.mark.parametrize("log_std", [-2.0, -5.0, -8.0, -10.0, -20.0])
@pytest.mark.parametrize("count", [1, 51])
def test_a_confident_policy_that_is_wrong_still_gets_the_exact_gradient(
    log_std: float, count: int
) -> None:
    mean, spread = torch.zeros(1, 1), torch.full((1, 1), log_std)
    loss, by_mean, by_log_std = closed_form(mean, spread, torch.full((1, count, 1), 0.5))
    # All actions are one, so L = z²/2 + log σ + log √2π with z = 0.5/σ; ∂μ: −z/σ, ∂log σ: 1 − z².
    sigma = spread.double().exp()
    z = 0.5 / sigma
    assert loss.item() == pytest.approx((z * z / 2 + log_std + 0.9189385).item(), rel=1e-5)
    assert by_mean.item() == pytest.approx((-z / sigma).item(), rel=1e-5)
    assert by_log_std.item() == pytest.approx((1 - z * z).item(), rel=1e-5)


def test_confident_policies_far_from_their_counterfactuals_have_exact_gradients() -> None:
    mean, _, actions = single(inputs(size=1))
    tensors = mean, torch.full_like(mean, -5.0), 0.1 * actions + 1
    for closed_value, exact in zip(closed_form(*tensors), plain(*tensors), strict=True):
        scale = exact.abs().max().item()
        torch.testing.assert_close(closed_value.double(), exact, rtol=0, atol=1e-5 * scale)


def test_the_gradient_agrees_with_finite_differences() -> None:
    mean, log_std, actions = inputs(states=4, count=9, size=2)
    assert torch.autograd.gradcheck(
        lambda m, s: gaussian_cross_entropy(m, s, actions),
        (mean.requires_grad_(), log_std.requires_grad_()),
        check_undefined_grad=False,  # the loss always has a gradient
    )


def test_the_gradient_of_each_state_is_weighted_by_what_comes_after() -> None:
    mean, log_std, actions = inputs(states=3)
    mean.requires_grad_()
    loss = gaussian_cross_entropy(mean, log_std, actions)
    (gradient,) = torch.autograd.grad((loss * torch.tensor([2.0, 0.0, -1.0])).sum(), mean)
    exact = plain(mean, log_std, actions)[1]
    torch.testing.assert_close(gradient, exact * torch.tensor([[2.0], [0.0], [-1.0]]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_stacked_networks_equal_a_loop_in_value_and_gradient(dtype: torch.dtype) -> None:
    mean, log_std, actions = (x.to(dtype).unflatten(0, (4, 5)) for x in inputs(states=20, count=11))
    mean.requires_grad_()
    stacked_loss = gaussian_cross_entropy(mean, log_std, actions)
    assert stacked_loss.shape == (4, 5)
    looped = torch.stack(
        [gaussian_cross_entropy(mean[i], log_std[i], actions[i]) for i in range(4)]
    )
    share = 1e-12 if dtype == torch.float64 else 1e-5
    assert_near([stacked_loss], [looped], share)
    direction = normal(4, 5, seed=7).to(dtype)
    (stacked_gradient,) = torch.autograd.grad((stacked_loss * direction).sum(), mean)
    (looped_gradient,) = torch.autograd.grad((looped * direction).sum(), mean)
    assert_near([stacked_gradient], [looped_gradient], share)
