"""The parameters of N networks in training, stacked: (N, …) each."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from counterbc.data import draws
from counterbc.methods import Method
from counterbc.policies import GaussianGRU, GaussianMLP, Params
from counterbc.training.networks import Networks

_POLICY, _WEIGHTING = "policy.", "weighting."
_TOGETHER = (GaussianMLP, GaussianGRU)
"""Policies that draw the weights of all networks at once; their biases are zero, or weights too."""


def initial(
    method: Method,
    nets: Networks,
    round_: int,
    obs_size: int,
    action_size: int,
    operators: int = 0,
) -> Params:
    """Return initial stacked parameters; a network's depend only on its seed and the round."""
    seeds, policy, sizes = nets.seeds.tolist(), method.policy, (obs_size, action_size)
    purposes = f"policy {round_}", f"weighting {round_}"
    if isinstance(policy, GaussianMLP | GaussianGRU) and type(policy) in _TOGETHER:
        weights = policy.init(draws.Streams(seeds, purposes[0]), *sizes)
        theta = {k: v if v.ndim > 1 else v.repeat(len(seeds), 1) for k, v in weights.items()}
    else:
        theta = _stack(
            policy.init(stream, *sizes) for stream in draws.generators(seeds, purposes[0])
        )
    phi = _stack(
        method.weighting.init(stream, obs_size, operators)
        for stream in draws.generators(seeds, purposes[1])
    )
    parts = ((_POLICY, theta), (_WEIGHTING, phi))
    return {prefix + name: v for prefix, params in parts for name, v in params.items()}


def _stack(networks: Iterable[Params]) -> Params:
    stacks: dict[str, list[Tensor]] = {}
    for params in networks:
        for name, value in params.items():
            stacks.setdefault(name, []).append(value)
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
