"""The layers of policies and their initial weights.

Every function takes one network, x (B, I), or N stacked ones, x (N, B, I) with W (N, I, O).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from counterbc.data.draws import Source, rand


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return x W + b: (B, O)."""
    if weight.ndim == 3:
        return torch.baddbmm(bias.unsqueeze(1), x, weight)
    return torch.addmm(bias, x, weight)


def relu_chain(params: dict[str, Tensor], x: Tensor, name: str, layers: int) -> Tensor:
    """Apply `layers` layers to x, with ReLU after each."""
    chain = [params[f"{name}{i}.{part}"] for i in range(layers) for part in ("weight", "bias")]
    if chain and chain[0].ndim == 3:
        stacked: Tensor = _Chain.apply(x, *chain)  # type: ignore[no-untyped-call]  # torch's
        return stacked
    for weight, bias in zip(chain[::2], chain[1::2], strict=True):
        x = linear(x, weight, bias).relu()
    return x


class _Chain(torch.autograd.Function):
    """The stacked chain with its gradient written out: fewer passes over memory than autograd's."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *chain: Tensor) -> Tensor:
        outputs = [x]
        for weight, bias in zip(chain[::2], chain[1::2], strict=True):
            outputs.append(torch.baddbmm(bias.unsqueeze(1), outputs[-1], weight).relu_())
        ctx.save_for_backward(*outputs, *chain[::2])
        return outputs[-1]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        layers = len(ctx.saved_tensors) // 2
        outputs, weights = ctx.saved_tensors[: layers + 1], ctx.saved_tensors[layers + 1 :]
        grads: list[Tensor | None] = []
        below: Tensor | None = grad
        for i in reversed(range(layers)):
            assert below is not None
            through = torch.ops.aten.threshold_backward(below, outputs[i + 1], 0)
            grads = [outputs[i].mT @ through, through.sum(1), *grads]
            below = through @ weights[i].mT if i or ctx.needs_input_grad[0] else None
        return below, *grads


def xavier(source: Source, inputs: int, *outputs: int) -> Tensor:
    """Return Glorot-uniform weights (…, inputs, Σ outputs), with the fan-out of each block."""
    blocks = []
    for width in outputs:
        bound = math.sqrt(6 / (inputs + width))
        blocks.append((2 * rand(source, inputs, width) - 1) * bound)
    return torch.cat(blocks, dim=-1)


def dense(source: Source, sizes: tuple[int, ...], name: str) -> dict[str, Tensor]:
    """Return weights and zero biases of a chain: name0.weight, name0.bias, name1.weight, …"""
    params = {}
    for i, (inputs, outputs) in enumerate(pairwise(sizes)):
        params[f"{name}{i}.weight"] = xavier(source, inputs, outputs)
        params[f"{name}{i}.bias"] = torch.zeros(outputs)
    return params
