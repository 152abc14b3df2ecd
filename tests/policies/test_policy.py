"""What holds for every policy: seeds, stacked networks and checks of its fields."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest
import torch
from torch import Tensor

from counterbc.errors import OptionError
from counterbc.losses import cross_entropy
from counterbc.policies import Flow, GaussianGRU, GaussianMLP, Mixture, Params, Policy
from tests.policies.numbers import check_stack, double, generator, normal


@pytest.mark.parametrize("policy", [GaussianMLP(), GaussianGRU(), Flow()])
def test_weights_are_a_function_of_the_generator(policy: Policy) -> None:
    first, same_seed, other_seed = (policy.init(generator(s), 3, 2) for s in (0, 0, 1))
    assert all(torch.equal(first[k], same_seed[k]) for k in first)
    assert not torch.equal(first["head.weight"], other_seed["head.weight"])


@pytest.mark.parametrize(
    "policy",
    [GaussianMLP(hidden=(8, 8)), GaussianMLP(hidden=(8,), history=3), GaussianGRU(hidden=(8, 8))],
)
def test_stacked_and_mapped_networks_equal_a_loop_in_value_and_gradient(policy: Policy) -> None:
    networks = [double(policy.init(generator(s), 3, 2)) for s in range(4)]
    shape = (5, 3) if policy.history == 1 else (5, policy.history, 3)
    obs, actions = normal(4, *shape), normal(4, 5, 6, 2, seed=1)

    def outputs(params: Params, obs: Tensor, actions: Tensor) -> tuple[Tensor, ...]:
        return (policy.log_prob(policy.head(params, obs), actions),)

    check_stack(networks, outputs, obs, actions, mapped=True)


@pytest.mark.parametrize("hidden", [(), (0,), (8, -1)])
def test_layers_without_units_are_refused(hidden: tuple[int, ...]) -> None:
    with pytest.raises(OptionError, match="give one positive width per layer"):
        GaussianMLP(hidden=hidden)


def test_a_policy_that_reads_nothing_is_refused() -> None:
    with pytest.raises(OptionError, match="history is 0"):
        GaussianMLP(history=0)


@pytest.mark.parametrize("policy", [GaussianMLP(hidden=(8,)), Mixture(hidden=(8,), modes=3)])
def test_the_cross_entropy_of_a_policy_is_that_of_its_log_probabilities(policy: Policy) -> None:
    params = double(policy.init(generator(), 3, 2))
    head, actions = policy.head(params, normal(5, 3)), normal(5, 4, 2, seed=1)
    exact = cross_entropy(policy.log_prob(head, actions))
    torch.testing.assert_close(policy.cross_entropy(head, actions), exact, rtol=1e-10, atol=0)


def test_a_reach_below_the_bounds_is_refused() -> None:
    with pytest.raises(OptionError, match="reach is 0; it must be 1 or more"):
        GaussianMLP(reach=0)


def test_numbers_of_acting_change_alone_and_only_where_the_policy_has_them() -> None:
    flow = Flow(hidden=(8,))
    assert flow.acting_with() == flow
    changes = {"execute": 3, "temperature": 0.0, "euler": 4}
    changed = flow.acting_with(execute=3, temperature=0.0, euler=4)
    assert asdict(changed) == asdict(flow) | changes
    chunks = GaussianMLP(horizon=4, execute=2)
    assert chunks.acting_with(execute=4) == GaussianMLP(horizon=4, execute=4)
    with pytest.raises(OptionError, match=r"horizon is 4 and execute 5; a policy .* at most all"):
        chunks.acting_with(execute=5)
    words = "is 1, but a GaussianMLP has none, only flows do; choose the policy flow, or leave"
    with pytest.raises(OptionError, match=f"temperature {words} temperature out"):
        chunks.acting_with(temperature=1)
    with pytest.raises(OptionError, match=f"euler {words} euler out"):
        chunks.acting_with(euler=1)
    with pytest.raises(OptionError, match="predicts at every step and averages its chunks"):
        replace(chunks, average_chunks=True).acting_with(execute=1)


def test_a_policy_with_a_likelihood_has_no_errors() -> None:
    policy, numbers = GaussianMLP(), torch.zeros(1, 1)
    with pytest.raises(OptionError, match="a GaussianMLP has no errors of its own; use log_prob"):
        policy.errors({}, numbers, numbers, numbers)


def test_the_default_steps_depend_on_the_number_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Flow, "steps_by_pairs", ((100, 7), (1000, 9)))
    assert [Flow().steps_for(n) for n in (99, 100, 999, 1000)] == [7, 9, 9, Flow.steps]
    assert GaussianMLP().steps_for(10) is None
