"""What a weighting gives N networks at once is what it gives each of them alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from counterbc.data import draws
from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS, Method
from counterbc.policies import Params
from counterbc.settings import Settings
from counterbc.training.network_stack import View, initial, split
from counterbc.training.plan import Job

Make = Callable[..., Demonstrations]
every_method = pytest.mark.parametrize("method", list(METHODS))


def shortened(method: Method) -> Method:
    """The same with little pre-training."""
    network = getattr(method.weighting, "network", None)
    if network is None:
        return method
    changes: dict[str, Any] = {"network": replace(network, steps=30, hidden=(8, 8))}
    return replace(method, weighting=replace(method.weighting, **changes))


def views(method: Method, make_demos: Make) -> tuple[View, Params]:
    """Three members with datasets of their own, of unequal length, and parameters by chance."""
    datasets = [make_demos(seed=s, length=n) for s, n in enumerate((10, 12, 9))]
    job = Job(datasets, "any", shortened(method), Settings(hidden=(8, 8)), "default", None)
    job.assign([3, 4, 5])
    view = job.view(datasets, torch.device("cpu"), torch.float64)
    sizes = view.store.obs.shape[1], view.store.action.shape[1], len(job.operators)
    params = {}
    for name, value in initial(view.method, view.nets, 0, *sizes).items():
        u = draws.uniform(torch.tensor(0), name, torch.arange(value.numel()), 1)
        params[name] = (value.double() + u.view(value.shape) - 0.5).requires_grad_()
    return view, params


def assert_same(stacked: dict[str, Tensor], each: list[dict[str, Tensor]]) -> None:
    assert all(e.keys() == stacked.keys() for e in each)
    for name, value in stacked.items():
        one_by_one = torch.stack([e[name] for e in each])
        torch.testing.assert_close(value, one_by_one, rtol=0, atol=1e-12)


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
        stacked, mapped = function(params, batch), torch.func.vmap(function)(params, batch)
        torch.testing.assert_close(stacked, mapped, rtol=0, atol=1e-10)
        results.append(stacked)
    assert results[0].shape == (nets,)
    assert results[1].shape == batch.actions.shape[:-1]
    leaves = list(params.values())
    gradients = [
        torch.autograd.grad(f(params, batch).sum(), leaves) for f in (loss, torch.func.vmap(loss))
    ]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


@every_method
def test_what_is_computed_before_a_round_is_the_same_for_one_network_and_for_all(
    method: str, make_demos: Make
) -> None:
    view, _ = views(METHODS[method], make_demos)
    nets, weighting = len(view.nets.pairs), view.method.weighting
    view.fit()
    pairs = view._pairs(None)
    alone = [weighting.fit(pairs.network(i)) for i in range(nets)]
    assert_same(view.fitted, alone)
    view.update_columns(None, view.method.shards)
    columns = [weighting.columns(pairs.network(i), alone[i]) for i in range(nets)]
    assert_same(view.columns, columns)


@every_method
def test_padding_does_not_count(method: str, make_demos: Make) -> None:
    view, _ = views(METHODS[method], make_demos)
    pairs, weighting = view._pairs(None).network(0), view.method.weighting
    length = int(pairs.count)
    assert length < len(pairs.index)
    bare = replace(pairs, index=pairs.index[:length])
    fitted = weighting.fit(bare)
    for name, value in weighting.fit(pairs).items():
        torch.testing.assert_close(value, fitted[name], rtol=0, atol=1e-12)
    for name, value in weighting.columns(pairs, fitted).items():
        assert torch.equal(value[:length], weighting.columns(bare, fitted)[name])


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
