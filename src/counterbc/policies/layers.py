"""The two layers that policies are made of, and how their weights begin."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """x W + b for x (B, I), W (I, O), b (O,): (B, O)."""
    return torch.addmm(bias, x, weight)


def xavier(generator: torch.Generator, inputs: int, *outputs: int) -> Tensor:
    """Glorot-uniform weights (inputs, Σ outputs), each block by its own fan-out."""
    blocks = []
    for width in outputs:
        bound = math.sqrt(6 / (inputs + width))
        blocks.append((2 * torch.rand(inputs, width, generator=generator) - 1) * bound)
    return torch.cat(blocks, dim=1)


def dense(generator: torch.Generator, sizes: tuple[int, ...], name: str) -> dict[str, Tensor]:
    """Weights and zero biases of a chain of layers: name0.weight, name0.bias, name1.weight, …"""
    params = {}
    for i, (inputs, outputs) in enumerate(pairwise(sizes)):
        params[f"{name}{i}.weight"] = xavier(generator, inputs, outputs)
        params[f"{name}{i}.bias"] = torch.zeros(outputs)
    return params


def relu_chain(params: dict[str, Tensor], x: Tensor, name: str, layers: int) -> Tensor:
    """x through `layers` layers with ReLU after each."""
    for i in range(layers):
        x = linear(x, params[f"{name}{i}.weight"], params[f"{name}{i}.bias"]).relu()
    return x
