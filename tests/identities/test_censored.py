"""Laws of censored actions: methods learn from a cut action what a censored variable says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.draws import Source
from counterbc.methods import METHODS
from counterbc.policies import GaussianMLP, Params
from counterbc.weightings import Batch, Posterior
from tests.equality import assert_near, same
from tests.fixture_types import Make, Train
from tests.policies.numbers import normal
from tests.training.interruption import interrupted

every_method = pytest.mark.parametrize(
    "method", [name for name, m in METHODS.items() if not m.weighting.compares_densities]
)


@pytest.fixture(scope="module")
def cut_demos(make_demos: Make) -> Demonstrations:
    """Demonstrations cut at ±0.5, where a third of the actions lie."""
    demos = make_demos(action_low=np.full(2, -0.5), action_high=np.full(2, 0.5))
    cut = demos.map_actions(lambda a: a.clip(-0.5, 0.5))
    assert 0.2 < (np.abs(cut.action) == 0.5).mean() < 0.6
    return replace(cut, actions_are="taken")


@every_method
def test_a_member_agrees_with_the_same_member_alone(
    method: str, cut_demos: Demonstrations, quick: Train
) -> None:
    options = {"steps": 20, "dtype": torch.float64, "lag": 0.0}
    together = quick(cut_demos, method, seeds=3, **options)
    assert (together.config["censored"], together.config["kernel"]) == (True, "torch")
    assert_near(together[1], quick(cut_demos, method, seeds=[1], **options), within=1e-6)


@every_method
def test_censored_actions_change_what_is_learned_and_asked_ones_do_not(
    method: str, cut_demos: Demonstrations, quick: Train
) -> None:
    options: dict[str, Any] = {"seeds": 2, "steps": 8, "lag": 0.0}
    plain = quick(replace(cut_demos, actions_are=None), method, **options)
    assert same(plain, quick(replace(cut_demos, actions_are="asked"), method, **options))
    assert same(plain, quick(cut_demos, method, censored=False, **options))
    assert not same(plain, quick(cut_demos, method, **options))


@pytest.mark.parametrize("method", ["counter-bc", "bcnd"])
def test_a_stopped_training_resumes_to_the_bit(
    method: str, cut_demos: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"seeds": 2, "steps": 8, "lag": 0.0}
    with interrupted(5):
        quick(cut_demos, method, out=tmp_path / "run", **options)
    resumed = quick(cut_demos, method, out=tmp_path / "run", resume=True, **options)
    assert same(resumed, quick(cut_demos, method, **options))
    assert same(Policies.load(tmp_path / "run"), resumed)


@pytest.mark.parametrize("policy", ["gaussian-mlp", "gaussian-gru", "mixture"])
def test_counter_bc_with_zero_radius_is_censored_bc(
    policy: str, cut_demos: Demonstrations, quick: Train
) -> None:
    options = {"seeds": 2, "steps": 30, "dtype": torch.float64, "policy": policy, "lag": 0.0}
    bc, counter = (quick(cut_demos, m, **options, radius=0.0) for m in ("bc", "counter-bc"))
    assert bc.curve is not None
    assert counter.curve is not None
    torch.testing.assert_close(counter.curve.loss, bc.curve.loss, rtol=1e-6, atol=1e-6)
    assert_near(counter, bc, within=1e-6)


def test_zero_radius_gives_the_loss_and_gradient_of_a_censored_variable() -> None:
    """Tobin's likelihood of one state, computed by torch's own functions."""
    mean, log_std = normal(6, 2).requires_grad_(), normal(6, 2, seed=1).requires_grad_()
    action, side = normal(6, 2, seed=2), torch.tensor([[1.0, 0.0]] * 3 + [[0.0, -1.0]] * 3)
    side = side.double()
    obs = torch.zeros(6, 1)
    z = (action - mean) / log_std.exp()
    log_density = torch.distributions.Normal(mean, log_std.exp()).log_prob(action)
    log_phi = torch.special.log_ndtr(-side * z)
    tobit = -torch.where(side == 0, log_density, log_phi).sum(-1).mean()
    by_torch = torch.autograd.grad(tobit, (mean, log_std))
    for name in ("bc", "counter-bc"):
        actions = action.unsqueeze(1).expand(6, 1 if name == "bc" else 51, 2)
        batch = Batch(obs, obs, actions, {"side": side})
        loss = METHODS[name].weighting.loss({}, batch, GaussianMLP(), (mean, log_std))
        assert loss.item() == pytest.approx(tobit.item(), rel=1e-10)
        gradients = torch.autograd.grad(loss, (mean, log_std))
        for a, b in zip(gradients, by_torch, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-12)


def test_the_posterior_has_the_likelihood_of_noise_that_a_bound_cuts() -> None:
    """A meant action a* ~ N(μ, σ²) is shown as a* + ε, ε ~ N(0, Δ²), and cut at 1.

    So P(shown at 1) = Φ((μ − 1) / √(σ² + Δ²)), and the gradient of the loss is that of −log P.
    """
    mean = torch.tensor([[0.3]], dtype=torch.float64, requires_grad=True)
    log_std = torch.tensor([[0.6]], dtype=torch.float64).log()
    u = torch.rand(1, 100_000, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    at_bound, delta = torch.ones(1, 1, dtype=torch.float64), 0.8
    actions = (1 + delta * torch.special.ndtri(u)).view(1, -1, 1)
    batch = Batch(at_bound, at_bound, actions, {"side": at_bound})
    loss = Posterior().loss({}, batch, GaussianMLP(), (mean, log_std))
    (slope,) = torch.autograd.grad(loss, mean)
    exact = -torch.special.log_ndtr((mean - 1) / (0.6**2 + delta**2) ** 0.5)
    (exact_slope,) = torch.autograd.grad(exact, mean)
    assert slope.item() == pytest.approx(exact_slope.item(), rel=0.02)


@dataclass(frozen=True)
class Linear(GaussianMLP):
    """μ = w · s + b, one σ for all states."""

    stacks: ClassVar[bool] = True

    def init(self, generator: Source, obs_size: int, action_size: int) -> Params:
        sizes = {"weight": (obs_size, action_size), "bias": (action_size,), "log_std": (1,)}
        return {name: torch.zeros(size) for name, size in sizes.items()}

    def head(self, params: Params, obs: Tensor) -> tuple[Tensor, Tensor]:
        mean = obs @ params["weight"] + params["bias"].unsqueeze(-2)
        return mean, params["log_std"].unsqueeze(-2).expand_as(mean)


W, B, STD = np.array([[1.2], [-0.6]]), 0.4, 0.5


@pytest.mark.parametrize("method", ["bc", "counter-bc", "epsilon-insensitive"])
def test_censored_training_recovers_a_linear_rule_where_plain_training_is_biased(
    method: str, quick: Train
) -> None:
    rng = np.random.default_rng(0)
    obs = rng.normal(size=(3000, 2))
    action = np.clip(obs @ W + B + STD * rng.normal(size=(3000, 1)), -1, 1)
    demos = Demonstrations(
        (Episode(obs, action),), action_low=-np.ones(1), action_high=np.ones(1), actions_are="taken"
    )
    options: dict[str, Any] = {
        "radius": 0.1, "steps": 400, "batch": 300, "learning_rate": 0.02, "scale_obs": False,
        "hidden": (1,), "lag": 0.0,
    }  # fmt: skip
    linear = replace(METHODS[method], policy=Linear())
    truth = np.append(W, B)
    weights = []
    for censored in (True, False):
        trained = quick(demos, linear, censored=censored, **options).params
        weights.append(np.append(trained["weight"][0].numpy(), trained["bias"][0].numpy()))
    assert np.abs(weights[0] - truth).max() < 0.1
    assert np.abs(weights[1] - truth).max() > 0.25


def test_a_policy_may_learn_what_lies_beyond_the_bound_and_acts_within_it(quick: Train) -> None:
    obs = np.linspace(-1, 1, 200)[:, None]
    action = np.clip(1.5 * obs, -1, 1)
    demos = Demonstrations(
        (Episode(obs, action),), action_low=-np.ones(1), action_high=np.ones(1), actions_are="taken"
    )
    trained = quick(demos, "bc", steps=300, learning_rate=0.01, lag=0.0)
    (mean, log_std), scaled = trained.policy.head(trained.params, trained.scales.obs(
        torch.tensor(obs, dtype=torch.float32)[None]
    )), trained.actor()  # fmt: skip
    assert float(mean.max()) > 1.1
    assert float(log_std[0, -1].exp()) < 0.5  # and σ need not grow
    assert scaled.act(np.ones(1, np.float32)).item() == 1.0
