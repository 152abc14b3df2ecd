"""Stacked parameters of networks: how they begin, and what belongs to whom."""

from __future__ import annotations

import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS
from counterbc.training.stacked_params import initial, policy_params, weighting_params
from tests.kernels.stacks import stack


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
