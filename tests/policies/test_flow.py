"""Flow matching, against values by hand, finite differences and the exact likelihood."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import pytest
import torch
from torch import Tensor

from counterbc.errors import OptionError
from counterbc.policies import Flow, Params
from counterbc.policies.flow import KAPPA
from tests.policies.numbers import (
    assert_near,
    check_gradients,
    check_stack,
    double,
    generator,
    initial_params,
    normal,
    uniform,
)  # fmt: skip

SMALL = Flow(hidden=(8, 8), history=2, horizon=3, execute=2, euler=4)
ONE_STEP = Flow(hidden=(64, 64), history=1, horizon=1, execute=1)
S, D = 3, 6  # of SMALL: 3 steps of 2 actions


def fresh(seed: int = 0) -> Params:
    return initial_params(SMALL, S, D, seed)


@cache
def trained() -> Params:
    """Learn a ∈ {s − 1, s + 1}, each with a spread of 0.1, by torch's Adam."""
    params = ONE_STEP.init(generator(), 1, 1)
    leaves = [p.requires_grad_() for p in params.values()]
    adam, draws = torch.optim.Adam(leaves, lr=3e-3), generator(1)
    for _ in range(400):
        obs = torch.rand(256, 1, generator=draws) - 0.5
        side = torch.randint(2, (256, 1), generator=draws) * 2 - 1
        actions = obs + side + 0.1 * torch.randn(256, 1, generator=draws)
        u = torch.rand(256, 2, generator=draws).clamp(1e-6, 1 - 1e-6)
        error, _ = ONE_STEP.errors(params, obs, actions.unsqueeze(1), u)
        adam.zero_grad()
        error.mean().backward()
        adam.step()
    return {k: v.detach() for k, v in params.items()}


def test_the_error_of_a_tiny_network_is_that_computed_by_hand() -> None:
    flow = Flow(hidden=(2,), history=1, horizon=2, execute=1)
    params = double(flow.init(generator(), 1, 2))
    for p in params.values():
        p.zero_()
    params["layer0.weight"][-2, 0] = 1.0  # the first unit reads the first number of x_t
    params["head.weight"][0] = torch.tensor([3.0, 0.0])
    params["head.bias"][:] = torch.tensor([0.5, -0.5])
    # z is 0 and 1, so x_t = 0.25 · 2; the norm of (GELU(x), 0) with GELU(x) > 0 is near (1, −1).
    u = torch.tensor([[0.25, 0.5, 0.5 * (1 + math.erf(1 / math.sqrt(2)))]], dtype=torch.float64)
    actions = torch.tensor([[[2.0, 4.0]]], dtype=torch.float64)
    half = 0.5 * 0.5 * 0.5 * (1 + math.erf(0.5 / math.sqrt(2)))  # half of GELU(0.5)
    unit = half / math.sqrt(half**2 + 1e-5)
    errors = [(3 * unit + 0.5 - 2) ** 2, (-0.5 - 3) ** 2]
    error, log_pi = flow.errors(params, normal(1, 1), actions, u)
    assert error.shape == log_pi.shape == (1, 2, 1)
    assert error.flatten().tolist() == pytest.approx(errors, rel=1e-10)
    assert log_pi.flatten().tolist() == pytest.approx([-KAPPA * 0.25**2 * e for e in errors])


def test_an_error_is_the_mean_over_the_numbers_of_a_step_and_log_pi_their_sum() -> None:
    params, u = fresh(), uniform(5, 1 + D)
    obs, actions = normal(5, 2, S), normal(5, 1, D, seed=1)
    error, log_pi = SMALL.errors(params, obs, actions, u)
    by_number, _ = replace(SMALL, horizon=D).errors(params, obs, actions, u)
    steps = by_number.reshape(5, 3, 2)
    torch.testing.assert_close(error.squeeze(-1), steps.mean(-1))
    torch.testing.assert_close(
        log_pi.squeeze(-1), -KAPPA * u[:, :1].square() * steps.sum(-1), rtol=1e-10, atol=0
    )


def test_equal_actions_have_the_error_and_gradient_of_one_action() -> None:
    params = {k: v.requires_grad_() for k, v in fresh().items()}
    obs, action, u = normal(5, 2, S), normal(5, 1, D, seed=1), uniform(5, 1 + D)
    alone, _ = SMALL.errors(params, obs, action, u)
    error, log_pi = SMALL.errors(params, obs, action.expand(5, 4, D), u)
    loss = (log_pi.softmax(-1) * error).sum(-1)
    assert error.shape == log_pi.shape == (5, 3, 4)
    torch.testing.assert_close(loss, alone.squeeze(-1), rtol=1e-12, atol=0)
    first_gradient, second_gradient = (
        torch.autograd.grad(x.mean(), list(params.values())) for x in (loss, alone)
    )
    assert_near(first_gradient, second_gradient, 1e-12)


def test_each_of_several_actions_has_the_error_it_has_alone() -> None:
    params, obs, u = fresh(), normal(5, 2, S), uniform(5, 1 + D)
    actions = normal(5, 4, D, seed=1)
    together = SMALL.errors(params, obs, actions, u)
    for m in range(4):
        single = SMALL.errors(params, obs, actions[:, m : m + 1], u)
        for several, one in zip(together, single, strict=True):
            torch.testing.assert_close(several[..., m : m + 1], one, rtol=1e-10, atol=1e-12)


def test_the_proxy_of_log_pi_carries_no_gradient() -> None:
    params = {k: v.requires_grad_() for k, v in fresh().items()}
    error, log_pi = SMALL.errors(params, normal(5, 2, S), normal(5, 2, D), uniform(5, 1 + D))
    assert error.requires_grad
    assert not log_pi.requires_grad


@pytest.mark.parametrize("count", [1, 3])
def test_gradients_agree_with_finite_differences(count: int) -> None:
    flow = Flow(hidden=(3, 3), history=1, horizon=2, execute=1)
    params = double(flow.init(generator(), 2, 2))
    obs, actions, u = normal(2, 2), normal(2, count, 2, seed=1), uniform(2, 3)
    check_gradients(params, lambda p: flow.errors(p, obs, actions, u)[0], atol=1e-6)


@pytest.mark.parametrize("count", [1, 4])
def test_stacked_networks_equal_a_loop_in_value_and_gradient(count: int) -> None:
    obs, actions = normal(3, 5, 2, S), normal(3, 5, count, D, seed=1)
    u, noise = uniform(3, 5, 1 + D), uniform(3, 5, D, seed=6)

    def outputs(params: Params, *rest: Tensor) -> tuple[Tensor, ...]:
        obs, actions, u, noise = rest
        taken = [SMALL.act(params, obs, noise, sampled) for sampled in (False, True)]
        return *SMALL.errors(params, obs, actions, u), *taken

    check_stack([fresh(seed) for seed in range(3)], outputs, obs, actions, u, noise)


def test_acting_follows_the_velocity_of_the_training_in_euler_steps() -> None:
    params, obs, u = fresh(), normal(5, 2, S), uniform(5, D)
    x = 0.5 * torch.special.ndtri(u)
    for k in range(SMALL.euler):
        x = x + _velocity(params, obs, x, k / SMALL.euler) / SMALL.euler
    torch.testing.assert_close(SMALL.act(params, obs, u, False), x, rtol=1e-8, atol=1e-8)


def _velocity(params: Params, obs: Tensor, x: Tensor, t: float) -> Tensor:
    """Read v(x, t) off the errors of lines through x that differ in direction.

    ‖v + e_d‖² − ‖v − e_d‖² = 4 v_d, where e_d is 1 in dimension d and 0 in the others.
    """
    flow, v = replace(SMALL, horizon=1, execute=1), torch.empty_like(x)
    for d, direction in enumerate(torch.eye(D, dtype=torch.float64)):
        ahead, back = (
            flow.errors(params, obs, (x + (1 - t) * line).unsqueeze(1), _numbers(x - t * line, t))
            for line in (direction, -direction)
        )
        v[:, d] = (back[0] - ahead[0]).flatten() * D / 4
    return v


def _numbers(z: Tensor, t: float) -> Tensor:
    """Return the uniform numbers that stand for this noise and time."""
    return torch.cat([torch.full_like(z[:, :1], t), torch.special.ndtr(z)], -1)


def test_temperature_scales_the_noise_and_sampling_does_not() -> None:
    params = {k: torch.zeros_like(v) for k, v in fresh().items()}  # x_1 = x_0
    obs, u = normal(5, 2, S), uniform(5, D)
    z = torch.special.ndtri(u)
    for temperature in (0.0, 0.5, 1.0):
        flow = replace(SMALL, temperature=temperature)
        torch.testing.assert_close(flow.act(params, obs, u, False), temperature * z)
        torch.testing.assert_close(flow.act(params, obs, u, True), z)


def test_temperature_0_needs_no_numbers_and_is_deterministic() -> None:
    cold, params, obs = replace(SMALL, temperature=0.0), fresh(), normal(5, 2, S)
    assert (cold.act_numbers(D, False), cold.act_numbers(D, True)) == (0, D)
    assert SMALL.act_numbers(D, False) == D
    action = cold.act(params, obs, None, False)
    assert action.shape == (5, D)
    assert torch.equal(action, cold.act(params, obs, uniform(5, D), False))


def test_a_trained_flow_reaches_both_modes() -> None:
    obs = torch.full((2_000, 1), 0.25)
    u = torch.rand(2_000, 1, generator=generator(2)).clamp(1e-6, 1 - 1e-6)
    actions = ONE_STEP.act(trained(), obs, u, True)
    modes = torch.tensor([-0.75, 1.25])
    distance, mode = (actions - modes).abs().min(-1)
    assert mode.float().mean().item() == pytest.approx(0.5, abs=0.1)
    assert (distance < 0.4).float().mean().item() > 0.9


def test_the_exact_likelihood_integrates_to_one_and_peaks_at_the_modes() -> None:
    grid = torch.linspace(-4, 4, 401).unsqueeze(-1)
    density = ONE_STEP.log_likelihood(trained(), torch.zeros(401, 1), grid, 50).exp()
    assert (density.sum() * 8 / 400).item() == pytest.approx(1, abs=0.01)
    peaks = [grid[density[half].argmax() + start].item() for half, start in (
        (slice(0, 200), 0), (slice(200, 401), 200)
    )]  # fmt: skip
    assert peaks == pytest.approx([-1, 1], abs=0.2)


def test_the_exact_likelihood_of_a_linear_field_is_that_of_its_gaussian() -> None:
    flow = Flow(hidden=(2,), history=1, horizon=1, execute=1)
    params = double(flow.init(generator(), 1, 2))
    for p in params.values():
        p.zero_()
    shift = torch.tensor([0.5, -1.0], dtype=torch.float64)
    params["head.bias"][:] = shift
    actions = normal(4, 2)
    exact = torch.distributions.Normal(shift, 1.0).log_prob(actions).sum(-1)
    log_pi = flow.log_likelihood(params, normal(4, 1), actions, 3)
    torch.testing.assert_close(log_pi, exact)


def test_the_exact_likelihood_of_stacked_networks_is_that_of_each() -> None:
    networks = [fresh(seed) for seed in range(2)]
    stack = {k: torch.stack([p[k] for p in networks]) for k in networks[0]}
    obs, actions = normal(2, 3, 2, S), normal(2, 3, D, seed=1)
    together = SMALL.log_likelihood(stack, obs, actions, 3)
    for i, params in enumerate(networks):
        single = SMALL.log_likelihood(params, obs[i], actions[i], 3)
        torch.testing.assert_close(together[i], single)


def test_the_proxy_ranks_two_actions_as_the_exact_likelihood_does_on_most_states() -> None:
    n, draws = 64, 200
    g = generator(3)
    obs = torch.rand(n, 1, generator=g) - 0.5
    near = obs + torch.randint(2, (n, 1), generator=g) * 2 - 1
    far = near + 0.5 * (torch.randint(2, (n, 1), generator=g) * 2 - 1)
    actions = torch.stack([near, far], 1)  # (n, 2, 1)
    exact = [ONE_STEP.log_likelihood(trained(), obs, a, 20) for a in (near, far)]
    u = torch.rand(n * draws, 2, generator=g).clamp(1e-6, 1 - 1e-6)
    with torch.no_grad():
        _, log_pi = ONE_STEP.errors(trained(), obs.repeat(draws, 1), actions.repeat(draws, 1, 1), u)
    proxy = log_pi.reshape(draws, n, 2).mean(0)
    agree = (proxy[:, 0] > proxy[:, 1]) == (exact[0] > exact[1])
    assert agree.float().mean().item() > 0.9


def test_few_pairs_are_learned_in_fewer_steps() -> None:
    steps = [SMALL.steps_for(pairs) for pairs in (400, 9_999, 10_000, 50_000)]
    assert steps == [5_000, 5_000, 15_000, 15_000]


def test_what_needs_a_density_is_refused() -> None:
    head = SMALL.head(fresh(), normal(5, 2, S))
    assert head[0].shape == (5, 2 * S)
    words = "a Flow has no tractable likelihood; use"
    with pytest.raises(OptionError, match=words):
        SMALL.log_prob(head, normal(5, 1, D))
    with pytest.raises(OptionError, match=words):
        SMALL.mean(head)
    with pytest.raises(OptionError, match=words):
        SMALL.sample(head, uniform(5, D))
    with pytest.raises(OptionError, match="modes is 3, but a Flow has as many as the data"):
        SMALL.with_modes(3)


def test_bad_options_are_refused() -> None:
    for temperature in (-0.1, math.nan, math.inf):
        with pytest.raises(OptionError, match="temperature is"):
            Flow(temperature=temperature)
    with pytest.raises(OptionError, match="euler is 0"):
        Flow(euler=0)
    with pytest.raises(OptionError, match="horizon is 3 and execute 4"):
        Flow(horizon=3)
