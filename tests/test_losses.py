"""The generalized loss and Counter-BC's: by hand, by identities, and alone in a training loop."""

from __future__ import annotations

import doctest
import math

import pytest
import torch
from torch import Tensor, nn

from counterbc import losses
from counterbc.errors import DataError, OptionError
from counterbc.losses import counter_bc_loss, cross_entropy, generalized_loss, restricted_policy
from counterbc.supports import Box
from tests.policies.numbers import assert_near, generator, normal


def test_the_generalized_loss_computed_by_hand() -> None:
    log_pi = torch.tensor([[-1.0, -2.0], [-0.5, -3.0]])
    weights = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    assert generalized_loss(log_pi, weights).tolist() == [1.75, 0.5]


def test_shapes_that_would_broadcast_are_refused() -> None:
    with pytest.raises(DataError, match=r"shape \(4, 3\), weights \(4, 1\); give one weight"):
        generalized_loss(torch.zeros(4, 3), torch.zeros(4, 1))


def test_the_example_in_the_docstring_runs() -> None:
    result = doctest.testmod(losses)
    assert result.attempted >= 1
    assert result.failed == 0


def test_counter_bc_of_two_counterfactuals_computed_by_hand() -> None:
    log_pi = torch.tensor([[0.2, 0.6]], dtype=torch.float64).log()
    weights = restricted_policy(log_pi)
    assert weights.tolist() == [pytest.approx([0.25, 0.75])]
    by_hand = -(0.25 * math.log(0.2) + 0.75 * math.log(0.6))
    assert cross_entropy(log_pi).item() == pytest.approx(by_hand, rel=1e-12)


def test_weights_sum_to_one_over_the_support_however_unlikely_its_actions() -> None:
    log_pi = 300 * normal(20, 51) - 1e4
    weights = restricted_policy(log_pi)
    assert weights.sum(-1) == pytest.approx(torch.ones(20), rel=1e-12)
    assert bool((weights >= 0).all())


def test_the_loss_is_entropy_plus_divergence() -> None:
    log_pi = 2 * normal(20, 51) - 1
    pi_hat = restricted_policy(log_pi)
    entropy = -(pi_hat * pi_hat.log()).sum(-1)
    divergence = (pi_hat * (pi_hat.log() - log_pi)).sum(-1)
    assert_near([cross_entropy(log_pi)], [entropy + divergence], 1e-12)


def test_an_infinite_radius_leaves_the_entropy_of_the_policy() -> None:
    std = torch.tensor([0.3, 0.5], dtype=torch.float64)
    policy = torch.distributions.Normal(torch.tensor([0.1, -0.2], dtype=torch.float64), std)
    entropy = float(std.log().sum()) + math.log(2 * math.pi * math.e)
    loss = counter_bc_loss(
        lambda obs, actions: policy.log_prob(actions).sum(-1),
        obs=torch.zeros(1, 1),
        action=torch.zeros(1, 2, dtype=torch.float64),
        radius=4.0,  # 8 standard deviations
        generator=generator(),
        support=Box(count=1_000_000),
    )
    # About 25,000 of the samples have weight: a standard error below 0.01.
    assert loss.item() == pytest.approx(entropy, abs=0.03)


def test_counter_bc_is_51_times_what_the_authors_code_computes() -> None:
    log_pi = normal(10, 51).requires_grad_()
    authors_loss = (log_pi.softmax(dim=1) * -log_pi).mean()  # over the batch and over the 51
    our_loss = cross_entropy(log_pi).mean()
    assert our_loss.item() == pytest.approx(51 * authors_loss.item(), rel=1e-12)
    (their_gradient,) = torch.autograd.grad(authors_loss, log_pi)
    (our_gradient,) = torch.autograd.grad(our_loss, log_pi)
    assert_near([our_gradient], [51 * their_gradient], 1e-12)


class Loop(nn.Module):
    """What a user may have: a torch module with a log_prob."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 2))
        with torch.no_grad():
            for i, p in enumerate(self.parameters()):
                p.copy_(0.5 * torch.randn(p.shape, generator=generator(i)))

    def log_prob(self, obs: Tensor, actions: Tensor) -> Tensor:
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        policy = torch.distributions.Normal(mean.unsqueeze(1), log_std.exp().unsqueeze(1))
        log_prob: Tensor = policy.log_prob(actions).sum(-1)
        return log_prob


def test_the_loss_alone_learns_a_function_in_plain_pytorch() -> None:
    g, policy = generator(), Loop()
    obs = 2 * torch.rand(200, 1, generator=g) - 1
    target = obs.abs() - 0.5
    action = target + 0.4 * torch.rand(200, 1, generator=g) - 0.2
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    history = []
    for _ in range(300):
        loss = counter_bc_loss(policy.log_prob, obs, action, radius=0.2, generator=g)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    assert history[-1] < history[0] - 1
    assert (policy.net(obs)[:, :1] - target).abs().mean().item() < 0.1


def test_the_gradient_of_the_loss_alone_agrees_with_finite_differences() -> None:
    action = normal(4, 2).tanh()

    def loss(mean: Tensor, log_std: Tensor) -> Tensor:
        policy = torch.distributions.Normal(mean.unsqueeze(1), log_std.exp().unsqueeze(1))
        return counter_bc_loss(
            lambda obs, actions: policy.log_prob(actions).sum(-1),
            torch.zeros(4, 1),
            action,
            radius=0.4,
            generator=generator(),
        )

    inputs = (normal(4, 2, seed=1).requires_grad_(), normal(4, 2, seed=2).requires_grad_())
    assert torch.autograd.gradcheck(loss, inputs)


def test_the_loss_alone_draws_from_the_generator_it_is_given_and_no_other() -> None:
    policy, ones = Loop(), torch.ones(3, 1)

    def loss(seed: int) -> float:
        return counter_bc_loss(policy.log_prob, ones, ones, 0.4, generator(seed)).item()

    before = torch.get_rng_state()
    assert loss(0) == loss(0)
    assert loss(0) != loss(1)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_loss_alone_takes_a_radius_per_dimension() -> None:
    seen_radii = []

    def log_prob(obs: Tensor, actions: Tensor) -> Tensor:
        seen_radii.append(actions)
        return actions.sum(-1)

    action = normal(6, 3)
    counter_bc_loss(log_prob, torch.zeros(6, 1), action, torch.tensor([0.2, 0.0, 0.5]), generator())
    offset = (seen_radii[0] - action.unsqueeze(1)).abs().amax((0, 1))
    assert offset[1] == 0
    assert 0.1 < offset[0] <= 0.2 + 1e-9
    assert 0.3 < offset[2] <= 0.5 + 1e-9


@pytest.mark.parametrize(
    ("action", "radius", "sentence"),
    [
        (torch.zeros(3, 2), -0.1, "radius is -0.1; it must be 0 or more"),
        (torch.zeros(3, 2), math.nan, "radius is nan; it must be 0 or more"),
        (torch.zeros(3), 0.1, r"action has shape \(3,\) and obs \(3, 1\)"),
        (torch.zeros(4, 2), 0.1, r"action has shape \(4, 2\) and obs \(3, 1\)"),
    ],
)
def test_the_loss_alone_refuses_bad_input_in_words(
    action: Tensor, radius: float, sentence: str
) -> None:
    with pytest.raises((DataError, OptionError), match=sentence):
        counter_bc_loss(
            lambda obs, a: a.sum(-1), torch.zeros(3, 1), action, radius, torch.Generator()
        )


def test_a_log_prob_that_sums_too_much_or_too_little_is_refused() -> None:
    with pytest.raises(DataError, match=r"log_prob gave shape \(3, 51, 2\); expected \(3, 51\)"):
        counter_bc_loss(
            lambda obs, a: a, torch.zeros(3, 1), torch.zeros(3, 2), 0.1, torch.Generator()
        )
