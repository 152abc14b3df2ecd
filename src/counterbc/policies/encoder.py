"""The encoder of frames: three convolutions with ReLU, mean pooling of large maps, dense layers.

A convolution is the product of an image's patches with a matrix. So N stacked networks are one
batched product, as in every other layer here, and its gradient repeats to the bit, which cuDNN's
does not. To act on a CPU, which needs no gradient, torch's convolutions are faster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from counterbc.errors import DataError
from counterbc.policies.layers import dense, linear, relu_chain, xavier
from counterbc.policies.pieces import read_in_pieces
from counterbc.policies.policy import Params
from counterbc.policies.pooling import pool, pooled_size

CONVOLUTIONS = ((32, 8, 4), (64, 4, 2), (64, 3, 1))
"""Channels, width and stride of each convolution."""
_LARGE = 1 << 18  # numbers of a pair's frames above which a CPU reads a few pairs at a time
_PIECE = 1 << 22  # numbers that it then reads at once


@dataclass(frozen=True)
class Encoder:
    """Frames, stacked as channels → ReLU convolutions → mean pooling → ReLU layers → features.

    Only feature maps of more than 144 places are pooled, those of images of more than about 128×128
    pixels.
    """

    image: tuple[int, int, int]
    """H, W, C of one frame."""
    frames: int
    hidden: tuple[int, ...]
    """Units of each dense layer; those of the last are the features."""

    def __post_init__(self) -> None:
        for _, height, width, _ in self._sizes():
            if min(height, width) < 1:
                raise DataError(
                    f"images are {'×'.join(map(str, self.image))}; the convolutions need 36×36 "
                    "pixels or more"
                )

    def _sizes(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield patch size, height, width and channels of each convolution's output."""
        height, width, channels = *self.image[:2], self.image[2] * self.frames
        for outputs, side, stride in CONVOLUTIONS:
            patch = side * side * channels
            height, width = ((n - side) // stride + 1 for n in (height, width))
            channels = outputs
            yield patch, height, width, channels

    def init(self, generator: torch.Generator, name: str) -> Params:
        """Return initial parameters of one network: name.conv0.weight, …, name.layer0.weight, …"""
        params = {}
        for i, (patch, *_, channels) in enumerate(self._sizes()):
            params[f"{name}.conv{i}.weight"] = xavier(generator, patch, channels)
            params[f"{name}.conv{i}.bias"] = torch.zeros(channels)
        *_, (_, height, width, channels) = self._sizes()
        rows, columns = pooled_size(height, width)
        sizes = (rows * columns * channels, *self.hidden)
        return params | dense(generator, sizes, f"{name}.layer")

    def __call__(self, params: Params, obs: Tensor, name: str) -> Tensor:
        """Return features (B, F) of frames (B, frames, S), or (B, S) of one frame, as bytes."""
        obs = obs.unsqueeze(-2) if self.frames == 1 else obs
        images = obs.unflatten(-1, self.image)  # (B, frames, H, W, C)
        weights, biases = (
            [params[f"{name}.conv{i}.{part}"] for i in range(len(CONVOLUTIONS))]
            for part in ("weight", "bias")
        )
        weights[0] = weights[0] / 255  # scales bytes to [0, 1]; there are fewer weights than bytes
        is_on_cpu, trains = obs.device.type == "cpu", torch.is_grad_enabled()
        read = _convolve_all if trains or not is_on_cpu else _convolve_all_to_act
        pairs = _pairs_at_once(images, weights[0].shape[:-2].numel()) if is_on_cpu else 0
        if pairs:
            x = read_in_pieces(read, images, [*weights, *biases], pairs)
        else:
            x = read(images, [*weights, *biases])
        return relu_chain(params, x.flatten(-3), f"{name}.layer", len(self.hidden))


def _pairs_at_once(images: Tensor, networks: int) -> int:
    """Return how many pairs of each network to read at once; 0: all of them."""
    numbers = images.shape[-4:].numel()
    return max(1, _PIECE // (networks * numbers)) if numbers > _LARGE else 0


def _convolve_all(images: Tensor, params: Sequence[Tensor]) -> Tensor:
    """Apply all convolutions and pooling: (B, frames, H, W, C) → (B, h, w, O)."""
    x = images.movedim(-4, -2).flatten(-2)  # (B, H, W, frames · C)
    weights, biases = params[: len(CONVOLUTIONS)], params[len(CONVOLUTIONS) :]
    for weight, bias, (_, side, stride) in zip(weights, biases, CONVOLUTIONS, strict=True):
        x = _convolve(x, weight, bias, side, stride)
    return pool(x)


def _convolve(x: Tensor, weight: Tensor, bias: Tensor, side: int, stride: int) -> Tensor:
    """Apply one convolution with ReLU: (B, H, W, C) → (B, h, w, O)."""
    patches = x.unfold(-3, side, stride).unfold(-3, side, stride)  # (B, h, w, C, side, side)
    # Channels last, as in memory: whole lines of a patch are copied at once.
    rows = patches.movedim(-3, -1).flatten(-3).to(weight.dtype)  # (B, h, w, K)
    y = linear(rows.flatten(-4, -2), weight, bias).relu()  # (B · h · w, O)
    out: Tensor = y.unflatten(-2, rows.shape[-4:-1])
    return out


def _convolve_all_to_act(images: Tensor, params: Sequence[Tensor]) -> Tensor:
    """Apply convolutions and pooling without gradients, to N networks one after the other."""
    if params[0].ndim == 2:
        return _convolve_to_act(images, params)
    each = range(len(images))
    return torch.stack([_convolve_to_act(images[n], [p[n] for p in params]) for n in each])


def _convolve_to_act(images: Tensor, params: Sequence[Tensor]) -> Tensor:
    """Apply those of one network by torch's convolutions: (B, frames, H, W, C) → (B, h, w, O).

    Frames are a third dimension of the first convolution, so that pixels are read in the order of
    memory.
    """
    weights, biases = params[: len(CONVOLUTIONS)], params[len(CONVOLUTIONS) :]
    x = images.to(biases[0].dtype).movedim(-1, 1)  # (B, C, frames, H, W)
    for weight, bias, (outputs, side, stride) in zip(weights, biases, CONVOLUTIONS, strict=True):
        kernel = weight.reshape(side, side, x.shape[2], x.shape[1], outputs).permute(4, 3, 2, 0, 1)
        x = functional.conv3d(x, kernel, bias, (1, stride, stride)).relu_()
    return pool(x.squeeze(2).movedim(1, -1))
