"""The posterior: BC without noise, no gradient through weights, and any noise or policy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.feasible import Everywhere
from counterbc.methods import METHODS
from counterbc.policies import GaussianMLP
from counterbc.settings import Settings
from counterbc.supports import SUPPORTS, Ball, Normal, StudentT
from counterbc.weightings import Posterior
from tests.policies.numbers import assert_near, generator, normal
from tests.supports.placing import place
from tests.weightings.batches import batch

Train = Callable[..., Policies]


def test_weights_are_probabilities_without_gradient() -> None:
    log_pi = torch.tensor([[math.log(0.1), math.log(0.3)], [5.0, 5.0]], requires_grad=True)
    weights = Posterior().weights({}, batch(torch.zeros(2, 1), 2), log_pi)
    torch.testing.assert_close(weights, torch.tensor([[0.25, 0.75], [0.5, 0.5]]))
    assert not weights.requires_grad


@pytest.mark.parametrize("shape", list(SUPPORTS))
def test_without_noise_it_equals_bc_in_loss_and_gradient(shape: str) -> None:
    policy = GaussianMLP(hidden=(8,))
    params = {k: v.double().requires_grad_() for k, v in policy.init(generator(), 3, 2).items()}
    obs, action = normal(16, 3, seed=1), normal(16, 2, seed=2).tanh()
    head = policy.head(params, obs)
    bc = -policy.log_prob(head, action.unsqueeze(1)).mean()
    actions = place(SUPPORTS[shape](), action, 0.0, Everywhere())
    data = batch(obs, 51)._replace(actions=actions)
    ours = Posterior().loss({}, data, policy, head)
    assert ours.item() == pytest.approx(bc.item(), rel=1e-10)
    one, other = (
        torch.autograd.grad(x, list(params.values()), retain_graph=True) for x in (ours, bc)
    )
    assert max(float(g.abs().max()) for g in other) > 0.01
    assert_near(one, other, 1e-10)


@pytest.mark.parametrize("options", [{}, {"policy": "mixture"}, {"limited": True}])
def test_a_population_without_noise_learns_what_bc_learns(
    options: dict[str, Any], tiny: Demonstrations, quick: Train
) -> None:
    exact = {"seeds": 2, "dtype": torch.float64, **options}
    bc = quick(tiny, "bc", **exact)
    for name, value in quick(tiny, "posterior", radius=0.0, **exact).params.items():
        torch.testing.assert_close(value, bc.params[name], rtol=1e-6, atol=1e-6)


def test_the_setting_shape_names_the_noise() -> None:
    noises = {"student-t": StudentT, "gaussian": Normal, "ball": Ball}
    for shape, kind in noises.items():
        assert type(Settings(shape=shape).apply(METHODS["posterior"]).support) is kind
    assert METHODS["posterior"].support == StudentT()


@pytest.mark.parametrize("shape", list(SUPPORTS))
def test_it_trains_with_every_noise_and_never_by_a_native_kernel(
    shape: str, tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, "posterior", shape=shape, seeds=2)
    assert policies.curve is not None
    assert bool(policies.curve.loss.isfinite().all())
    assert policies.config["kernel"] == "torch"


@pytest.mark.slow
def test_a_sampled_action_repeats_less_noise_than_bc(make_demos: Any, quick: Train) -> None:
    """π is what is left after p: demonstrators err by ±0.3, and the policy should not."""
    demos = make_demos(episodes=10, length=20, noise=0.3)
    options = {"steps": 400, "hidden": (16, 16), "radius": 0.3}
    widths = {}
    for method, changes in (("bc", {}), ("posterior", {"shape": "box"})):
        policies = quick(demos, method, **options, **changes)
        obs = policies.scales.obs(policies.tensor(np.array(demos.obs)).unsqueeze(0))
        widths[method] = float(policies.policy.head(policies.params, obs)[1].exp().mean())
    assert widths["posterior"] < 0.6 * widths["bc"]


def test_it_is_counter_bc_without_the_gradient_of_its_weights() -> None:
    log_pi = normal(5, 7).requires_grad_()
    data = batch(torch.zeros(5, 1), 7)
    counter = METHODS["counter-bc"].weighting.weights({}, data, log_pi)
    assert torch.equal(Posterior().weights({}, data, log_pi), counter.detach())
    (gradient,) = torch.autograd.grad(-(counter.detach() * log_pi).sum(), log_pi)
    (likelihood,) = torch.autograd.grad(-log_pi.logsumexp(-1).sum(), log_pi)
    torch.testing.assert_close(gradient, likelihood)
