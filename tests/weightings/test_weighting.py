"""Every weighting: N networks at once equal each of them alone, and --hidden reaches it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from torch import Tensor

from counterbc.data import draws
from counterbc.losses import generalized_loss
from counterbc.methods import METHODS, Method
from counterbc.policies import Params
from counterbc.settings import Settings
from counterbc.training.plan import plan_training, seed_members
from counterbc.training.run import plan_view
from counterbc.training.stacked_params import initial, split
from counterbc.training.view import View
from counterbc.weightings import (
    Advantage,
    Pairs,
    PolicyLikelihood,
    Posterior,
    PreviousPolicy,
    StateExpertise,
)
from counterbc.weightings.weighting import CROSS_ENTROPY, StepForm
from tests.fixture_types import Make

every_method = pytest.mark.parametrize("method", list(METHODS))


def shortened(method: Method) -> Method:
    """Return the same with little pre-training."""
    network = getattr(method.weighting, "network", None)
    if network is None:
        return method
    changes: dict[str, Any] = {"network": replace(network, steps=30, hidden=(8, 8))}
    return replace(method, weighting=replace(method.weighting, **changes))


def views(method: Method, make_demos: Make) -> tuple[View, Params]:
    """Return three members with one dataset each, of unequal lengths, and random parameters."""
    datasets = [make_demos(seed=s, length=n) for s, n in enumerate((10, 12, 9))]
    members = seed_members(datasets, [3, 4, 5], [[0.4] * 3])
    plan = plan_training(datasets, shortened(method), Settings(hidden=(8, 8)), members)
    view = plan_view(plan, torch.device("cpu"), torch.float64)
    sizes = view.store.obs.shape[1], view.store.action.shape[1], len(plan.operators)
    params = {}
    for name, value in initial(view.method, view.nets, 0, *sizes).items():
        u = draws.uniform(torch.tensor(0), name, torch.arange(value.numel()), 1)
        params[name] = (value.double() + u.view(value.shape) - 0.5).requires_grad_()
    return view, params


def assert_close(actual: Tensor, exact: Tensor) -> None:
    """Compare relative to the largest number, since sums in another order round differently."""
    scale = max(1e-3, float(exact.detach().abs().max()))  # some gradients are zero up to rounding
    torch.testing.assert_close(actual, exact, rtol=0, atol=1e-9 * scale)


def assert_same(joint: dict[str, Tensor], singles: list[dict[str, Tensor]]) -> None:
    assert all(e.keys() == joint.keys() for e in singles)
    for name, value in joint.items():
        one_by_one = torch.stack([e[name] for e in singles])
        assert_close(value, one_by_one)


@every_method
def test_stacked_equals_vmap_of_one_in_loss_weights_and_gradient(
    method: str, make_demos: Make
) -> None:
    view, params = views(METHODS[method], make_demos)
    before = None if METHODS[method].rounds == 1 else params
    view.fit()
    view.update_columns(before, view.method.shards)
    nets = len(view.nets.pairs)
    position = torch.arange(7).expand(nets, -1).contiguous()
    batch = view.batch(position, torch.zeros_like(position))
    policy, weighting = view.method.policy, view.method.weighting
    assert weighting.stacks

    def loss(params: Params, batch: Any) -> Tensor:
        head = policy.head(split(params, "policy."), batch.obs)
        return weighting.loss(split(params, "weighting."), batch, policy, head)

    def weights(params: Params, batch: Any) -> Tensor:
        log_pi = policy.log_prob(policy.head(split(params, "policy."), batch.obs), batch.actions)
        return weighting.weights(split(params, "weighting."), batch, log_pi)

    results = []
    for function in (loss, weights):
        joint, by_vmap = function(params, batch), torch.func.vmap(function)(params, batch)
        assert_close(joint, by_vmap)
        results.append(joint)
    assert results[0].shape == (nets,)
    assert results[1].shape == batch.actions.shape[:-1]
    leaves = list(params.values())
    gradients = [
        torch.autograd.grad(f(params, batch).sum(), leaves) for f in (loss, torch.func.vmap(loss))
    ]
    for first, second in zip(*gradients, strict=True):
        assert_close(first, second)


@pytest.mark.parametrize("method", [k for k, m in METHODS.items() if m.weighting.takes_errors()])
def test_errors_of_each_step_of_a_chunk_are_weighted_as_minus_log_pi_of_one_action(
    method: str, make_demos: Make
) -> None:
    view, params = views(METHODS[method], make_demos)
    view.fit()
    view.update_columns(None, view.method.shards)
    position = torch.arange(7).expand(len(view.nets.pairs), -1).contiguous()
    batch = view.batch(position, torch.zeros_like(position))
    policy, weighting = view.method.policy, view.method.weighting
    phi = split(params, "weighting.")
    log_pi = policy.log_prob(policy.head(split(params, "policy."), batch.obs), batch.actions)
    steps = torch.stack([log_pi, 0.5 * log_pi - 1], -2).detach()  # (N, 7, 2, M)
    joint = weighting.error_loss(phi, batch, -steps, steps)
    assert_close(joint, torch.func.vmap(weighting.error_loss)(phi, batch, -steps, steps))
    by_step = [
        generalized_loss(step, weighting.weights(phi, batch, step)).mean(-1)
        for step in steps.unbind(-2)
    ]
    assert_close(joint, torch.stack(by_step).mean(0))
    assert joint.requires_grad == bool(phi)  # what a weighting learns, it learns from errors too


def test_losses_other_than_eq_m1_do_not_take_errors() -> None:
    refused = [name for name, m in METHODS.items() if not m.weighting.takes_errors()]
    assert refused == ["bcnd", "ileed", "epsilon-insensitive"]
    assert not MixedLikelihood().takes_errors()
    assert Half().takes_errors()


@every_method
def test_what_is_computed_before_a_round_is_the_same_for_one_network_and_for_all(
    method: str, make_demos: Make
) -> None:
    view, _ = views(METHODS[method], make_demos)
    nets, weighting = len(view.nets.pairs), view.method.weighting
    view.fit()
    pairs = view._pairs(None)
    fits = [weighting.fit(pairs.network(i)) for i in range(nets)]
    assert_same(view.fitted, fits)
    view.update_columns(None, view.method.shards)
    columns = [weighting.columns(pairs.network(i), fits[i]) for i in range(nets)]
    assert_same(view.columns, columns)


@every_method
def test_padding_does_not_count(method: str, make_demos: Make) -> None:
    view, _ = views(METHODS[method], make_demos)
    pairs, weighting = view._pairs(None).network(0), view.method.weighting
    length = int(pairs.count)
    assert length < len(pairs.index)
    bare = replace(pairs, index=pairs.index[:length])
    fitted_params = weighting.fit(bare)
    for name, value in weighting.fit(pairs).items():
        assert_close(value, fitted_params[name])
    for name, value in weighting.columns(pairs, fitted_params).items():
        assert torch.equal(value[:length], weighting.columns(bare, fitted_params)[name])


@every_method
def test_weights_lie_between_zero_and_one(method: str, make_demos: Make) -> None:
    view, params = views(METHODS[method], make_demos)
    view.fit()
    view.update_columns(None, view.method.shards)
    position = torch.arange(20).expand(len(view.nets.pairs), -1).contiguous() % 7
    batch = view.batch(position, torch.zeros_like(position))
    policy = view.method.policy
    log_pi = policy.log_prob(policy.head(split(params, "policy."), batch.obs), batch.actions)
    weights = view.method.weighting.weights(split(params, "weighting."), batch, log_pi)
    assert bool(((weights >= 0) & (weights <= 1)).all())


@every_method
def test_the_setting_hidden_reaches_every_network_of_the_weighting(
    method: str, make_demos: Make
) -> None:
    """Every matrix of a weighting's networks has 7 units on one side."""
    weighting = METHODS[method].weighting.with_hidden((7,))
    assert Settings(hidden=(7,)).apply(METHODS[method]).weighting == weighting
    assert Settings().apply(METHODS[method]).weighting == METHODS[method].weighting
    small = replace(METHODS[method], weighting=weighting, shards=1)
    demos = make_demos()
    plan = plan_training([demos], small, Settings(), seed_members([demos], [3], [[0.4]]))
    view = plan_view(plan, torch.device("cpu"), torch.float64)
    view.fit()
    learned = weighting.init(torch.Generator(), 3, 2) | view.fitted
    matrices = [value for name, value in learned.items() if name.endswith(".weight")]
    has_network = any(hasattr(weighting, name) for name in ("hidden", "network"))
    assert bool(matrices) == has_network
    assert all(7 in matrix.shape for matrix in matrices)


@dataclass(frozen=True)
class Half(PolicyLikelihood):
    def weights(self, params: Params, batch: Any, log_pi: Tensor) -> Tensor:
        return super().weights(params, batch, log_pi) / 2


@dataclass(frozen=True)
class HalfInClosedForm(Half):
    def closed_form(self, actions: int) -> bool:
        return actions == 7


class Mixin:
    def auxiliary(self, params: Params, batch: Any, log_pi: Tensor) -> Tensor:
        return log_pi.sum()


@dataclass(frozen=True)
class MixedLikelihood(Mixin, PolicyLikelihood):
    pass


@dataclass(frozen=True)
class RenamedLikelihood(PolicyLikelihood):
    pass


def test_a_closed_form_holds_for_the_class_that_declares_it_and_not_for_what_is_overridden() -> (
    None
):
    assert PolicyLikelihood().uses_closed_form(7)
    assert RenamedLikelihood().uses_closed_form(7)
    assert not Half().uses_closed_form(7)
    assert not MixedLikelihood().uses_closed_form(7)
    assert HalfInClosedForm().uses_closed_form(7)
    assert not HalfInClosedForm().uses_closed_form(8)


@dataclass(frozen=True)
class HalfTheExpertise(StateExpertise):
    def weights(self, params: Params, batch: Any, log_pi: Tensor) -> Tensor:
        return super().weights(params, batch, log_pi) / 2


@dataclass(frozen=True)
class RenamedExpertise(StateExpertise):
    pass


def test_the_form_of_a_step_holds_for_the_class_that_declares_it_and_one_action_alone() -> None:
    form = StateExpertise(hidden=(5, 7)).step_form(1)
    assert form == StepForm("state network", "rho", 3)
    assert RenamedExpertise(hidden=(5, 7)).step_form(1) == form
    assert HalfTheExpertise().step_form(1) is None
    assert StateExpertise().step_form(2) is None
    assert PolicyLikelihood().step_form(2) == Posterior().step_form(1) == CROSS_ENTROPY
    assert Posterior().step_form(2) is None
    assert PreviousPolicy().step_form(1) == StepForm("batch softmax", "log_pi_prev")
    assert Advantage().step_form(1) == StepForm("column", "weight")


@dataclass(frozen=True)
class FittedLikelihood(PolicyLikelihood):
    """The weights of Counter-BC, after something was fitted to the pairs."""

    def fit(self, pairs: Pairs) -> Params:
        return {"mean": pairs["action"].mean(-2)}


def test_only_weightings_whose_single_weight_is_1_equal_bc_where_nothing_else_could_be_meant() -> (
    None
):
    names = {name for name, method in METHODS.items() if method.weighting.equals_bc()}
    assert names == {"bc", "bc-rnn", "counter-bc", "posterior"}
    assert RenamedLikelihood().equals_bc()
    assert not MixedLikelihood().equals_bc()
    assert not FittedLikelihood().equals_bc()
