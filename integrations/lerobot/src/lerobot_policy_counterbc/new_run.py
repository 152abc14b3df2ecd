"""The run that a new policy begins with: networks, scales and a configuration, without training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from counterbc.acting.member import Member
from counterbc.acting.policies import Policies
from counterbc.acting.run_config import RunConfig
from counterbc.data.chunks import LEAST_SCALE
from counterbc.data.scaling import Scaling
from counterbc.policies import POLICIES, Policy

from .configuration_counterbc import CounterBCConfig


def new_policies(config: CounterBCConfig, stats: Mapping[str, Any] | None) -> Policies:
    """Return an untrained policy with the scales of a dataset; without statistics they are 1."""
    policy, scales = make_policy(config), make_scales(config, stats)
    generator = torch.Generator().manual_seed(config.seed)
    width = scales.horizon * scales.action_low.shape[1]
    params = policy.init(generator, scales.inputs, width)
    size = scales.action_low.shape[1]
    method = "counter-bc" if config.radius else "bc"
    keys = config.vector_keys
    names = [f"{key}[{i}]" for key in keys for i in range(config.input_features[key].shape[0])]
    run_config = RunConfig(
        method=method,
        definition="trained by lerobot-train",
        obs_names=names,
        keys=keys,
        radius_from="given" if config.radius else "not used",
        kernel="torch",
    )
    return Policies(
        policy=policy,
        params={name: value.unsqueeze(0) for name, value in params.items()},
        scales=scales,
        members=(Member(config.seed, (config.radius,) * size, lag=(config.lag,)),),
        method=method,
        config=run_config.as_dict(),
    )


def make_policy(config: CounterBCConfig) -> Policy:
    """Return the policy that the options describe.

    The moving average of parameters is left out: LeRobot's training loop has no place for it.
    """
    options = {"hidden": tuple(config.hidden), "history": config.n_obs_steps, "ema_share": 0.0}
    policy = POLICIES[config.kind](**options)
    return replace(policy, horizon=config.chunk_size, execute=config.n_action_steps)


def make_scales(config: CounterBCConfig, stats: Mapping[str, Any] | None) -> Scaling:
    """Return the scales of a dataset: standardized observations, actions that span [−1, 1]."""
    size = config.action_feature.shape[0]
    if stats is None:  # the policy is about to be loaded
        width = sum(config.input_features[key].shape[0] for key in config.vector_keys)
        mean, scale = torch.zeros(width), torch.ones(width)
        low, high, middle, spread = -torch.ones(size), *torch.ones(2, size), torch.ones(size)
    else:
        mean, scale = (_joined(config, stats, name) for name in ("mean", "std"))
        constant = scale <= 1e-6 * mean.abs().clamp(min=1)
        scale = torch.where(constant, 1.0, scale)
        low, high, middle, spread = (
            _numbers(stats["action"][name]) for name in ("min", "max", "mean", "std")
        )
        constant = high - low <= 1e-6 * low.abs().clamp(min=1)
        low, high = torch.where(constant, low - 1, low), torch.where(constant, high + 1, high)
    scales = Scaling(*(x.float()[None] for x in (mean, scale, low, high)), bounds_from="data")
    if not POLICIES[config.kind].standardizes:
        return _repeated(scales, torch.zeros(size), torch.ones(size), config.chunk_size)
    target_mean = 2 * (middle - low) / (high - low) - 1
    target_scale = (2 * spread / (high - low)).clamp(min=LEAST_SCALE)
    return _repeated(scales, target_mean, target_scale, config.chunk_size)


def _repeated(scales: Scaling, mean: Tensor, scale: Tensor, horizon: int) -> Scaling:
    """Return the scales with the same targets for each step of a chunk."""
    mean, scale = (x.float().repeat(horizon)[None] for x in (mean, scale))
    return replace(scales, target_mean=mean, target_scale=scale)


def _joined(config: CounterBCConfig, stats: Mapping[str, Any], name: str) -> Tensor:
    return torch.cat([_numbers(stats[key][name]) for key in config.vector_keys])


def _numbers(values: Any) -> Tensor:
    return torch.as_tensor(values, dtype=torch.float64).flatten()
