"""The body of policies that predict chunks: a GELU layer, then residual layers, then a norm.

    h_0 = GELU(x W_0 + b_0)
    h_i = h_(i−1) + GELU(norm(h_(i−1)) W_i + b_i)
    features = norm(h_last)

`norm` subtracts the mean of a row and divides by its standard deviation. Every function takes one
network or N stacked ones, as in `layers.py`. The gradient is autograd's: written out as for ReLU
layers it is no faster, because products of wide layers take nearly all of the time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import torch
from torch import Tensor
from torch.nn import functional

from counterbc.errors import OptionError
from counterbc.policies.layers import linear
from counterbc.policies.policy import Params, Policy

_OUTPUT_SCALE = 0.1
_BY_PAIRS = ((2_000, (128,) * 3), (10_000, (256,) * 3))
_LARGEST = (512,) * 4


@dataclass(frozen=True)
class Residual(Policy):
    """A policy that predicts chunks of standardized actions with residual layers."""

    standardizes: ClassVar[bool] = True
    repeats_first: ClassVar[bool] = True
    reads_angles: ClassVar[bool] = True
    steps: ClassVar[int | None] = 15_000
    hidden: tuple[int, ...] = ()
    """Units of each layer, all the same. By default they suit the number of pairs."""
    history: int = 2
    horizon: int = field(default=16, kw_only=True)
    execute: int = field(default=8, kw_only=True)
    ema_share: float = field(default=0.002, kw_only=True)

    def _check_hidden(self) -> None:
        if self.hidden:
            super()._check_hidden()
        if len(set(self.hidden)) > 1:
            raise OptionError(
                f"hidden is {self.hidden}; residual layers add up, so give the same width for each"
            )

    @property
    def widths(self) -> tuple[int, ...]:
        """Units of each layer: the largest where they were neither given nor chosen."""
        return self.hidden or _LARGEST

    def sized(self, pairs: int | None) -> Self:
        return self if self.hidden else replace(self, hidden=hidden_for(pairs))

    def state(self, params: Params, obs: Tensor) -> Tensor:
        """Return what the first layer reads of the observations: (B, F)."""
        return obs if self.history == 1 else obs.flatten(-2)

    def outputs(self, params: Params, first: Tensor) -> Tensor:
        """Return what the network predicts from what its first layer gives before GELU: (B, O)."""
        h = residual_layers(params, first, len(self.widths))
        return linear(h, params["head.weight"], params["head.bias"])


def init_residual(
    generator: torch.Generator, inputs: int, hidden: tuple[int, ...], outputs: int
) -> Params:
    """Return weights of the layers, layer0.weight, layer0.bias, …, and of a linear head.

    Weights are uniform within ± 1/√inputs, a tenth of that in the head; biases are 0.
    """
    params: Params = {}
    for i, width in enumerate(hidden):
        params |= _layer(generator, f"layer{i}", inputs if i == 0 else hidden[i - 1], width)
    params |= _layer(generator, "head", hidden[-1], outputs)
    params["head.weight"] *= _OUTPUT_SCALE
    return params


def _layer(generator: torch.Generator, name: str, inputs: int, outputs: int) -> Params:
    weight = (2 * torch.rand(inputs, outputs, generator=generator) - 1) / math.sqrt(inputs)
    return {f"{name}.weight": weight, f"{name}.bias": torch.zeros(outputs)}


def residual_layers(params: Params, first: Tensor, layers: int) -> Tensor:
    """Return the features of a state from what its first layer gives before GELU: (B, W)."""
    width = first.shape[-1:]
    h = functional.gelu(first)
    for i in range(1, layers):
        x = functional.layer_norm(h, width)
        x = linear(x, params[f"layer{i}.weight"], params[f"layer{i}.bias"])
        h = h + functional.gelu(x)
    return functional.layer_norm(h, width)


def hidden_for(pairs: int | None) -> tuple[int, ...]:
    """Return layers that suit a number of pairs: the largest from 10,000 on, else smaller ones."""
    if pairs is None:
        return _LARGEST
    return next((hidden for below, hidden in _BY_PAIRS if pairs < below), _LARGEST)
