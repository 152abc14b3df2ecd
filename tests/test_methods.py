"""Every method is a choice of C(s, a) and R(s, a) in eq. M1, and the authors' formula."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from counterbc.data.feasible import UnitBox
from counterbc.errors import OptionError
from counterbc.losses import generalized_loss
from counterbc.methods import METHODS, Method, find_method
from counterbc.policies import Params
from counterbc.supports import Demonstrated
from counterbc.weightings import Batch, Pairs
from tests.policies.numbers import generator, normal


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
    authors_loss = (-torch.softmax(rho, dim=0) * log_pi).mean()
    our_loss = loss_of(method, params, batch, head)
    assert our_loss.item() == pytest.approx(authors_loss.item(), rel=1e-10)
    variables = [head[0], params["rho0.weight"], params["rho2.weight"]]
    torch.testing.assert_close(
        torch.autograd.grad(our_loss, variables), torch.autograd.grad(authors_loss, variables)
    )


def test_bcnd_is_what_the_authors_code_computes() -> None:
    previous = 3 * normal(12, 4, seed=5)  # log π of the 4 policies of the round before
    batch, head, log_pi = one_batch(log_pi_prev=previous)
    reward = torch.stack([torch.softmax(previous[:, k], dim=0) for k in range(4)]).mean(0)
    authors_loss = (-reward * log_pi).mean()
    assert loss_of(METHODS["bcnd"], {}, batch, head).item() == pytest.approx(authors_loss.item())


BASELINES = ("bc", "weighted-bc", "bc-rnn", "bcnd", "ileed", "discriminator-bc", "advantage-bc")


@pytest.mark.parametrize("name", BASELINES)
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
    assert loss_of(method, {}, batch, head).item() == pytest.approx(m1.item(), rel=1e-10)


def test_a_method_is_found_by_name_or_value() -> None:
    assert find_method("bcnd") == ("bcnd", METHODS["bcnd"])
    assert find_method(METHODS["ileed"]) == ("ileed", METHODS["ileed"])
    custom = Method(shards=2)
    assert find_method(custom) == ("custom", custom)
    with pytest.raises(OptionError, match="counter-bc"):
        find_method("conter-bc")


@pytest.mark.parametrize("sizes", [{"shards": 0}, {"rounds": -1}])
def test_fewer_than_one_shard_or_round_is_refused(sizes: dict[str, int]) -> None:
    with pytest.raises(OptionError, match="both must be 1 or more"):
        Method(**sizes)  # type: ignore[arg-type]  # only the sizes are given


def test_methods_that_are_bc_at_zero_radius_keep_their_policy_and_networks_there() -> None:
    many = replace(METHODS["posterior"], shards=4, disjoint=False)
    assert many.at_zero_radius() == replace(METHODS["bc"], shards=4, disjoint=False)
    assert METHODS["counter-bc"].at_zero_radius() == METHODS["bc"]
    others = set(METHODS) - {"counter-bc", "posterior"}
    assert all(METHODS[name].at_zero_radius() == METHODS[name] for name in others)
