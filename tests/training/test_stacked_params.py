"""Stacked parameters of networks: how they begin, and what belongs to whom."""

from __future__ import annotations

import pytest
import torch

from counterbc.data import draws
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


@pytest.mark.parametrize("method", METHODS)
def test_weights_drawn_for_all_networks_at_once_have_the_bits_of_those_drawn_one_by_one(
    method: str, tiny: Demonstrations
) -> None:
    nets, definition = stack(tiny, "bc", seeds=3).view.nets, METHODS[method]
    params = initial(definition, nets, 1, 3, 2, operators=2)
    for i, seed in enumerate(nets.seeds.tolist()):
        streams = (draws.generator(seed, f"{part} 1") for part in ("policy", "weighting"))
        parts = {
            "policy": definition.policy.init(next(streams), 3, 2),
            "weighting": definition.weighting.init(next(streams), 3, 2),
        }
        single = {f"{part}.{k}": v for part, values in parts.items() for k, v in values.items()}
        assert list(single) == list(params)
        for name, value in single.items():
            assert torch.equal(params[name][i], value), name


def test_parameters_of_policy_and_weighting_are_told_by_their_prefix(tiny: Demonstrations) -> None:
    params = stack(tiny, "weighted-bc").params
    assert set(policy_params(params)) == {
        f"{layer}.{part}" for layer in ("layer0", "layer1", "head") for part in ("weight", "bias")
    }
    assert all(name.startswith("rho") for name in weighting_params(params))
    assert len(policy_params(params)) + len(weighting_params(params)) == len(params)
