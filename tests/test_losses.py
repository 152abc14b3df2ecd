"""Eq. M1 and what it becomes: identities of the paper, numbers by hand, the authors' formulas."""

from __future__ import annotations

import doctest
import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from counterbc import losses
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.feasible import UnitBox
from counterbc.errors import DataError, OptionError
from counterbc.losses import counter_bc_loss, cross_entropy, generalized_loss, restricted_policy
from counterbc.methods import METHODS, Method
from counterbc.policies import GaussianMLP, Params
from counterbc.supports import Ball, Box, Demonstrated, Support
from counterbc.weightings import Batch, Pairs

Train = Callable[..., Policies]


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


# The generalized loss


def test_the_generalized_loss_computed_by_hand() -> None:
    log_pi = torch.tensor([[-1.0, -2.0], [-0.5, -3.0]])
    weights = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    assert generalized_loss(log_pi, weights).tolist() == [1.75, 0.5]


def test_shapes_that_would_broadcast_are_refused() -> None:
    with pytest.raises(DataError, match=r"log_pi has shape \(4, 3\), weights \(4, 1\)"):
        generalized_loss(torch.zeros(4, 3), torch.zeros(4, 1))


def test_the_example_in_the_docstring_runs() -> None:
    result = doctest.testmod(losses)
    assert result.attempted >= 1
    assert result.failed == 0


# Counter-BC


def test_counter_bc_of_two_counterfactuals_computed_by_hand() -> None:
    log_pi = torch.tensor([[0.2, 0.6]], dtype=torch.float64).log()
    weights = restricted_policy(log_pi)
    assert weights.tolist() == [pytest.approx([0.25, 0.75])]
    by_hand = -(0.25 * math.log(0.2) + 0.75 * math.log(0.6))
    assert cross_entropy(log_pi).item() == pytest.approx(by_hand, abs=1e-12)


def test_weights_sum_to_one_over_the_support_however_unlikely_its_actions() -> None:
    log_pi = 300 * normal(20, 51) - 1e4
    weights = restricted_policy(log_pi)
    assert weights.sum(-1) == pytest.approx(torch.ones(20), abs=1e-12)
    assert bool((weights >= 0).all())


def test_the_loss_is_entropy_plus_divergence() -> None:
    log_pi = 2 * normal(20, 51) - 1
    pi_hat = restricted_policy(log_pi)
    entropy = -(pi_hat * pi_hat.log()).sum(-1)
    divergence = (pi_hat * (pi_hat.log() - log_pi)).sum(-1)
    torch.testing.assert_close(cross_entropy(log_pi), entropy + divergence, rtol=1e-10, atol=1e-10)


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


def small_network() -> tuple[Params, GaussianMLP, Tensor, Tensor]:
    policy = GaussianMLP(hidden=(8,))
    params = {k: v.double().requires_grad_() for k, v in policy.init(generator(), 3, 2).items()}
    return params, policy, normal(16, 3, seed=1), normal(16, 2, seed=2).tanh()


@pytest.mark.parametrize("support", [Ball(), Box(), Ball(count=3), Demonstrated()])
def test_counter_bc_with_zero_radius_equals_bc_in_loss_and_gradient(support: Support) -> None:
    params, policy, obs, action = small_network()
    head = policy.head(params, obs)
    bc = -policy.log_prob(head, action.unsqueeze(1)).mean()
    counter = counter_bc_loss(
        lambda obs, actions: policy.log_prob(policy.head(params, obs), actions),
        obs,
        action,
        radius=0.0,
        generator=generator(),
        support=support,
        feasible=UnitBox(),
    )
    assert counter.item() == pytest.approx(bc.item(), abs=1e-10)
    one = torch.autograd.grad(bc, list(params.values()))
    other = torch.autograd.grad(counter, list(params.values()))
    assert max(float(g.abs().max()) for g in one) > 0.01
    torch.testing.assert_close(other, one, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("steps", [1, 50])
@pytest.mark.parametrize("shape", ["ball", "box"])
@pytest.mark.parametrize("limited", [True, False])
def test_a_population_of_counter_bc_with_zero_radius_learns_what_bc_learns(
    tiny: Demonstrations, quick: Train, steps: int, shape: str, limited: bool
) -> None:
    options = {"seeds": 2, "steps": steps, "dtype": torch.float64}
    bc = quick(tiny, "bc", **options)
    counter = quick(tiny, "counter-bc", radius=0.0, shape=shape, limited=limited, **options)
    assert bc.curve is not None
    assert counter.curve is not None
    torch.testing.assert_close(counter.curve.loss, bc.curve.loss, rtol=1e-6, atol=1e-6)
    for name, value in bc.params.items():
        torch.testing.assert_close(counter.params[name], value, rtol=1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
@pytest.mark.parametrize("feasible", ["keep", "project"])
@pytest.mark.parametrize("limited", [True, False])
def test_zero_radius_equals_bc_also_where_actions_lie_outside_their_bounds(
    tiny: Demonstrations, quick: Train, limited: bool, feasible: str
) -> None:
    wild = tiny.map_actions(lambda a: 2 * a)
    assert wild.infeasible.any()
    options = {"feasible": feasible, "dtype": torch.float64}
    bc = quick(wild, "bc", **options)
    counter = quick(wild, "counter-bc", radius=0.0, limited=limited, **options)
    for name, value in bc.params.items():
        torch.testing.assert_close(counter.params[name], value, rtol=1e-6, atol=1e-6)


# The authors' formulas, up to the constants that the methods' pages name


def test_counter_bc_is_51_times_what_the_authors_code_computes() -> None:
    log_pi = normal(10, 51).requires_grad_()
    theirs = (log_pi.softmax(dim=1) * -log_pi).mean()  # over the batch and over the 51
    ours = cross_entropy(log_pi).mean()
    assert ours.item() == pytest.approx(51 * theirs.item(), abs=1e-12)
    (their_gradient,) = torch.autograd.grad(theirs, log_pi)
    (our_gradient,) = torch.autograd.grad(ours, log_pi)
    torch.testing.assert_close(our_gradient, 51 * their_gradient, rtol=1e-14, atol=1e-14)


def loss_of(method: Method, params: Params, batch: Batch, head: tuple[Tensor, Tensor]) -> Tensor:
    return method.weighting.loss(params, batch, method.policy, head)


def one_batch(**columns: Tensor) -> tuple[Batch, tuple[Tensor, Tensor], Tensor]:
    """A batch of 12 with a made-up head, and log π of its actions."""
    obs = normal(12, 3)
    batch = Batch(obs=obs, state=obs, actions=normal(12, 1, 2, seed=1), columns=columns)
    head = (normal(12, 2, seed=2).requires_grad_(), 0.3 * normal(12, 2, seed=3))
    policy = torch.distributions.Normal(head[0], head[1].exp())
    return batch, head, policy.log_prob(batch.actions.squeeze(1)).sum(-1)


def test_weighted_bc_is_what_the_authors_code_computes() -> None:
    method = METHODS["weighted-bc"]
    params = {
        k: v.double().requires_grad_() for k, v in method.weighting.init(generator(), 3).items()
    }
    batch, head, log_pi = one_batch()
    x = batch.obs
    for i in range(2):
        x = (x @ params[f"rho{i}.weight"] + params[f"rho{i}.bias"]).relu()
    rho = (x @ params["rho2.weight"] + params["rho2.bias"]).squeeze(1)
    theirs = (-torch.softmax(rho, dim=0) * log_pi).mean()
    ours = loss_of(method, params, batch, head)
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-12)
    variables = [head[0], params["rho0.weight"], params["rho2.weight"]]
    torch.testing.assert_close(
        torch.autograd.grad(ours, variables), torch.autograd.grad(theirs, variables)
    )


def test_bcnd_is_what_the_authors_code_computes() -> None:
    previous = 3 * normal(12, 4, seed=5)  # log π of the 4 policies of the round before
    batch, head, log_pi = one_batch(log_pi_prev=previous)
    reward = torch.stack([torch.softmax(previous[:, k], dim=0) for k in range(4)]).mean(0)
    theirs = (-reward * log_pi).mean()
    assert loss_of(METHODS["bcnd"], {}, batch, head).item() == pytest.approx(theirs.item())


# Section 4.1: every method is a choice of C and R in eq. M1


@pytest.mark.parametrize("name", [n for n in METHODS if n != "counter-bc"])
def test_the_baselines_consider_only_what_was_shown(name: str) -> None:
    assert METHODS[name].support == Demonstrated()
    assert METHODS[name].support.place(
        torch.ones(5, 2), torch.ones(5, 2), torch.zeros(5, 0, 0), UnitBox()
    ).shape == (5, 1, 2)


@pytest.mark.parametrize("name", ["bc", "bc-rnn"])
def test_bc_is_the_generalized_loss_with_r_equal_to_one(name: str) -> None:
    batch, head, log_pi = one_batch()
    assert METHODS[name].weighting.weights({}, batch, log_pi[:, None]).unique().tolist() == [1.0]
    assert loss_of(METHODS[name], {}, batch, head).item() == pytest.approx((-log_pi.mean()).item())


def test_bcnd_begins_as_bc_and_then_weights_by_the_previous_policies() -> None:
    weighting = METHODS["bcnd"].weighting
    batch, head, log_pi = one_batch()
    pairs = Pairs({}, torch.arange(2), torch.tensor(2), torch.tensor(0))
    assert weighting.columns(pairs, {}) == {}
    assert loss_of(METHODS["bcnd"], {}, batch, head).item() == pytest.approx(
        (-log_pi.mean()).item()
    )
    # Two pairs, two policies: one finds them 1 : 3, the other 1 : 1.
    previous = torch.tensor([[0.1, 0.5], [0.3, 0.5]]).log()
    (name,) = weighting.columns(replace(pairs, previous=previous), {})
    obs = torch.zeros(2, 3)
    pair = Batch(obs=obs, state=obs, actions=torch.zeros(2, 1, 2), columns={name: previous})
    weights = weighting.weights({}, pair, torch.zeros(2, 1))
    assert weights.flatten().tolist() == pytest.approx([0.375, 0.625])


def test_weighted_bc_shares_one_out_over_the_batch() -> None:
    weighting = METHODS["weighted-bc"].weighting
    batch, _, log_pi = one_batch()
    params = {k: v.double() for k, v in weighting.init(generator(), 3).items()}
    weights = weighting.weights(params, batch, log_pi[:, None])
    assert weights.shape == (12, 1)
    assert float(weights.sum()) == pytest.approx(1)
    assert len(weights.unique()) == 12


def test_counter_bc_with_its_own_weights_in_eq_m1_is_its_closed_form() -> None:
    method = METHODS["counter-bc"]
    batch, head, _ = one_batch()
    batch = batch._replace(actions=normal(12, 51, 2, seed=7))
    log_pi = method.policy.log_prob(head, batch.actions)
    m1 = generalized_loss(log_pi, method.weighting.weights({}, batch, log_pi)).mean()
    assert loss_of(method, {}, batch, head).item() == pytest.approx(m1.item(), abs=1e-10)


# The loss alone, in a training loop of one's own


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
    meant = obs.abs() - 0.5
    action = meant + 0.4 * torch.rand(200, 1, generator=g) - 0.2
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    history = []
    for _ in range(300):
        loss = counter_bc_loss(policy.log_prob, obs, action, radius=0.2, generator=g)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    assert history[-1] < history[0] - 1
    assert (policy.net(obs)[:, :1] - meant).abs().mean().item() < 0.1


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
    seen = []

    def log_prob(obs: Tensor, actions: Tensor) -> Tensor:
        seen.append(actions)
        return actions.sum(-1)

    action = normal(6, 3)
    counter_bc_loss(log_prob, torch.zeros(6, 1), action, torch.tensor([0.2, 0.0, 0.5]), generator())
    offset = (seen[0] - action.unsqueeze(1)).abs().amax((0, 1))
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
