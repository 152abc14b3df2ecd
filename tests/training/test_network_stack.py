"""Stacked networks: their initial parameters, their state, and their held-out loss."""

from __future__ import annotations

import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS
from counterbc.training.network_stack import initial, policy_params, weighting_params
from tests.kernels.stacks import advance, block, stack


def test_initial_parameters_of_a_network_depend_on_its_seed_and_round_alone(
    tiny: Demonstrations,
) -> None:
    three, single = (stack(tiny, "weighted-bc", seeds=n).view.nets for n in (3, 1))
    method = METHODS["weighted-bc"]
    first, alone, later = (
        initial(method, nets, round_, 3, 2)
        for nets, round_ in ((three, 0), (single, 0), (three, 1))
    )
    for name, value in alone.items():
        assert torch.equal(first[name][:1], value)
    assert not torch.equal(first["policy.head.weight"], later["policy.head.weight"])
    assert not torch.equal(first["policy.head.weight"][0], first["policy.head.weight"][1])


def test_parameters_of_policy_and_weighting_are_told_by_their_prefix(tiny: Demonstrations) -> None:
    params = stack(tiny, "weighted-bc").params
    assert set(policy_params(params)) == {
        f"{layer}.{part}" for layer in ("layer0", "layer1", "head") for part in ("weight", "bias")
    }
    assert all(name.startswith("rho") for name in weighting_params(params))
    assert len(policy_params(params)) + len(weighting_params(params)) == len(params)


@pytest.mark.parametrize("kernel", ["auto", "torch"])
def test_a_restored_state_continues_to_the_same_bits(kernel: str, tiny: Demonstrations) -> None:
    whole, stopped_run, resumed_run = (stack(tiny, kernel=kernel) for _ in range(3))
    position, epoch = block(whole, 6)
    whole.steps(position, epoch)
    stopped_run.steps(position[:4], epoch[:4])
    resumed_run.restore({name: value.clone() for name, value in stopped_run.state().items()})
    resumed_run.steps(position[4:], epoch[4:])
    for name, value in whole.state().items():
        assert torch.equal(resumed_run.state()[name], value), name


@pytest.mark.parametrize("method", ["bc", "counter-bc", "bc-rnn"])
def test_the_held_out_error_is_that_of_the_mean_action(method: str, tiny: Demonstrations) -> None:
    networks = stack(tiny, method, dtype=torch.float64)
    advance(networks, 3)
    count = int(networks.view.nets.lengths.min())
    position = torch.arange(count).expand(3, -1)
    batch = networks.view.batch(position, torch.zeros_like(position))
    policy = networks.view.method.policy
    mean, _ = torch.func.vmap(policy.head)(policy_params(networks.params), batch.obs)
    expected_error = ((mean - batch.actions[:, :, 0]) ** 2).sum(-1).mean(-1)
    torch.testing.assert_close(networks.held_out(networks.view), expected_error.detach())


def test_the_case_of_a_view_counts_networks_sizes_and_samples(tiny: Demonstrations) -> None:
    view = stack(tiny, "counter-bc", counterfactuals=7, memory=0.0).view
    case = view.case(batch=11)
    assert (case.obs_size, case.action_size, case.samples) == (3, 2, 8)
    assert (case.networks, case.batch, case.device, case.in_memory) == (3, 11, "cpu", False)
