"""From frames to features: three convolutions with ReLU, then dense layers.

A convolution is the product of an image's patches with a matrix. So N stacked networks are one
batched product, as in every other layer here, and unlike cuDNN's its gradient is the same to the
bit each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from counterbc.errors import DataError
from counterbc.policies.layers import dense, linear, relu_chain, xavier
from counterbc.policies.policy import Params

CONVOLUTIONS = ((32, 8, 4), (64, 4, 2), (64, 3, 1))
"""Channels, width and stride of each."""


@dataclass(frozen=True)
class Encoder:
    """Some frames, side by side as channels → ReLU convolutions → ReLU layers → features."""

    image: tuple[int, int, int]
    """H, W, C of one frame."""
    frames: int
    hidden: tuple[int, ...]
    """Units of each dense layer; the last are the features."""

    def __post_init__(self) -> None:
        for _, height, width, _ in self._sizes():
            if min(height, width) < 1:
                raise DataError(
                    f"images are {'×'.join(map(str, self.image))}; the convolutions need 36×36 "
                    "pixels or more"
                )

    def _sizes(self) -> Iterator[tuple[int, int, int, int]]:
        """Numbers in a patch, and the height, width and channels that come of it."""
        height, width, channels = *self.image[:2], self.image[2] * self.frames
        for outputs, side, stride in CONVOLUTIONS:
            patch = side * side * channels
            height, width = ((n - side) // stride + 1 for n in (height, width))
            channels = outputs
            yield patch, height, width, channels

    def init(self, generator: torch.Generator, name: str) -> Params:
        """Fresh parameters of one network: name.conv0.weight, …, name.layer0.weight, …"""
        params = {}
        for i, (patch, *_, channels) in enumerate(self._sizes()):
            params[f"{name}.conv{i}.weight"] = xavier(generator, patch, channels)
            params[f"{name}.conv{i}.bias"] = torch.zeros(channels)
        *_, (_, height, width, channels) = self._sizes()
        sizes = (height * width * channels, *self.hidden)
        return params | dense(generator, sizes, f"{name}.layer")

    def __call__(self, params: Params, obs: Tensor, name: str) -> Tensor:
        """Features (B, F) of frames (B, frames, S), or (B, S) of one, as bytes."""
        obs = obs.unsqueeze(-2) if self.frames == 1 else obs
        x = obs.unflatten(-1, self.image).movedim(-4, -2).flatten(-2)  # (B, H, W, frames · C)
        for i, (_, side, stride) in enumerate(CONVOLUTIONS):
            weight, bias = params[f"{name}.conv{i}.weight"], params[f"{name}.conv{i}.bias"]
            # Bytes are scaled to [0, 1] by way of the weights, which are fewer.
            weight = weight / 255 if i == 0 else weight
            x = _convolved(x, weight, bias, side, stride)
        return relu_chain(params, x.flatten(-3), f"{name}.layer", len(self.hidden))


def _convolved(x: Tensor, weight: Tensor, bias: Tensor, side: int, stride: int) -> Tensor:
    """One convolution with ReLU: (B, H, W, C) → (B, h, w, O)."""
    patches = x.unfold(-3, side, stride).unfold(-3, side, stride)  # (B, h, w, C, side, side)
    # Channels last, as they lie in memory: whole lines of a patch are copied at once.
    rows = patches.movedim(-3, -1).flatten(-3).to(weight.dtype)  # (B, h, w, K)
    y = linear(rows.flatten(-4, -2), weight, bias).relu()  # (B · h · w, O)
    out: Tensor = y.unflatten(-2, rows.shape[-4:-1])
    return out
