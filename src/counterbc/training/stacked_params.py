"""The parameters of N networks in training, stacked: (N, …) each."""

from __future__ import annotations

import torch
from torch import Tensor

from counterbc.data import draws
from counterbc.methods import Method
from counterbc.policies import Params
from counterbc.training.networks import Networks

_POLICY, _WEIGHTING = "policy.", "weighting."


def initial(
    method: Method,
    nets: Networks,
    round_: int,
    obs_size: int,
    action_size: int,
    operators: int = 0,
) -> Params:
    """Return initial stacked parameters; a network's depend only on its seed and the round."""
    stacks: dict[str, list[Tensor]] = {}
    for seed in nets.seeds.tolist():
        generator = draws.generator(seed, f"policy {round_}")
        theta = method.policy.init(generator, obs_size, action_size)
        generator = draws.generator(seed, f"weighting {round_}")
        phi = method.weighting.init(generator, obs_size, operators)
        for prefix, params in ((_POLICY, theta), (_WEIGHTING, phi)):
            for name, value in params.items():
                stacks.setdefault(prefix + name, []).append(value)
    return {name: torch.stack(values) for name, values in stacks.items()}


def split(params: Params, prefix: str) -> Params:
    """Return the parameters whose names have a prefix, without the prefix."""
    return {k[len(prefix) :]: v for k, v in params.items() if k.startswith(prefix)}


def policy_params(params: Params) -> Params:
    """Return the parameters of the policies among stacked parameters."""
    return split(params, _POLICY)


def weighting_params(params: Params) -> Params:
    """Return the parameters of the weightings among stacked parameters."""
    return split(params, _WEIGHTING)
