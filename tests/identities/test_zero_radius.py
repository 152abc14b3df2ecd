"""Counter-BC with zero radius is behavior cloning: in the loss, its gradient and training."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.feasible import UnitBox
from counterbc.losses import counter_bc_loss
from counterbc.policies import GaussianMLP, Params
from counterbc.supports import Ball, Box, Demonstrated, Support
from tests.fixture_types import Train
from tests.policies.numbers import assert_near, generator, normal


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
    assert counter.item() == pytest.approx(bc.item(), rel=1e-10)
    bc_gradients = torch.autograd.grad(bc, list(params.values()))
    counter_gradients = torch.autograd.grad(counter, list(params.values()))
    assert max(float(g.abs().max()) for g in bc_gradients) > 0.01
    assert_near(counter_gradients, bc_gradients, 1e-10)


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
