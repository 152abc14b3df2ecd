"""Frames, and the encoder of frames by torch's convolutions."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from counterbc.policies import Params
from counterbc.policies.encoder import CONVOLUTIONS
from counterbc.policies.pooling import pooled_size

IMAGE = (40, 36, 3)
SIZE = 40 * 36 * 3


def frames(*shape: int, seed: int = 0, size: int = SIZE) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (*shape, size), generator=generator, dtype=torch.uint8)


def by_torch(params: Params, obs: Tensor, image: tuple[int, int, int] = IMAGE) -> Tensor:
    """The same features by conv2d, frames (B, T, S) side by side as channels."""
    x = obs.double().unflatten(-1, image) / 255  # (B, T, H, W, C)
    x = x.permute(0, 1, 4, 2, 3).flatten(1, 2)  # (B, T · C, H, W)
    for i, (_, side, stride) in enumerate(CONVOLUTIONS):
        weight = params[f"f.conv{i}.weight"].unflatten(0, (side, side, -1)).permute(3, 2, 0, 1)
        x = functional.conv2d(x, weight, params[f"f.conv{i}.bias"], stride).relu()
    x = functional.adaptive_avg_pool2d(x, pooled_size(*x.shape[-2:]))
    flat = x.permute(0, 2, 3, 1).flatten(1)
    features: Tensor = (flat @ params["f.layer0.weight"] + params["f.layer0.bias"]).relu()
    return features
