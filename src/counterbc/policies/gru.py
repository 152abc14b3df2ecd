"""A GRU over a short window.

    r = σ(x_r + U_r h)   z = σ(x_z + U_z h)   n = tanh(x_n + r (U_n h + b_n))   h' = (1 − z) n + z h

where the input x = W s + b is computed for all steps at once. For N stacked networks the gradient
is written out, with x (N, T, B, 3H), weight (N, H, 3H), bias (N, 1, 3H); for one network autograd
computes it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def _forward(x: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, ...]:
    """Return h (the first is zero), (r, z), n and U_n h + b_n of every step: (N, T, B, …) each."""
    nets, steps, batch, _ = x.shape
    units = weight.shape[1]
    h = x.new_zeros(nets, steps + 1, batch, units)
    gates = x.new_empty(nets, steps, batch, 2 * units)
    n, last = (x.new_empty(nets, steps, batch, units) for _ in range(2))
    for t in range(steps):
        u = torch.baddbmm(bias, h[:, t], weight)
        last[:, t] = u[..., 2 * units :]
        torch.add(x[:, t, :, : 2 * units], u[..., : 2 * units], out=gates[:, t]).sigmoid_()
        r, z = gates[:, t].chunk(2, dim=-1)
        torch.addcmul(x[:, t, :, 2 * units :], r, last[:, t], out=n[:, t]).tanh_()
        torch.lerp(n[:, t], h[:, t], z, out=h[:, t + 1])
    return h, gates, n, last


def _backward(
    grad: Tensor, h: Tensor, gates: Tensor, n: Tensor, last: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients by x, weight and bias from that by the last h."""
    nets, steps, batch, units = n.shape
    r, z = gates.chunk(2, dim=-1)
    slope = torch.addcmul(gates, gates, gates, value=-1)  # of σ: (N, T, B, 2H)
    by_r = slope[..., :units].mul_(last)  # ∂n/∂x_r before tanh
    by_z = slope[..., units:].mul_(h[:, :-1] - n)  # ∂h'/∂x_z
    by_n = torch.addcmul(n.new_ones(()), n, n, value=-1).mul_(1 - z)  # ∂h'/∂x_n
    d_x, d_last = n.new_empty(nets, steps, batch, 3 * units), torch.empty_like(n)
    w_gates, w_last = weight[..., : 2 * units].mT, weight[..., 2 * units :].mT
    for t in reversed(range(steps)):
        d_n = torch.mul(grad, by_n[:, t], out=d_x[:, t, :, 2 * units :])
        torch.mul(d_n, by_r[:, t], out=d_x[:, t, :, :units])
        torch.mul(grad, by_z[:, t], out=d_x[:, t, :, units : 2 * units])
        torch.mul(d_n, r[:, t], out=d_last[:, t])
        if t:
            grad = torch.baddbmm(grad * z[:, t], d_x[:, t, :, : 2 * units], w_gates)
            grad = torch.baddbmm(grad, d_last[:, t], w_last)
    before = h[:, :-1].flatten(1, 2).mT  # (N, H, T · B)
    d_gates, d_last = d_x[..., : 2 * units].flatten(1, 2), d_last.flatten(1, 2)
    d_weight = torch.cat([before @ d_gates, before @ d_last], dim=-1)
    return d_x, d_weight, torch.cat([d_gates.sum(1), d_last.sum(1)], dim=-1).unsqueeze(1)


class _GRU(torch.autograd.Function):
    """A GRU of N networks at once."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        h, *rest = _forward(x, weight, bias)
        ctx.save_for_backward(h, *rest, weight)
        return h[:, -1].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return _backward(grad, *ctx.saved_tensors)


def gru(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return the last state: x (T, B, 3H), weight (H, 3H), bias (3H,) → (B, H).

    With N networks, all have N in front.
    """
    if x.ndim == 4:
        stacked: Tensor = _GRU.apply(x, weight, bias.unsqueeze(1))  # type: ignore[no-untyped-call]
        return stacked
    units = weight.shape[0]
    h = x.new_zeros(x.shape[1], units)
    for step in x:
        u = torch.addmm(bias, h, weight)
        r, z = (step[:, : 2 * units] + u[:, : 2 * units]).sigmoid().chunk(2, dim=-1)
        n = (step[:, 2 * units :] + r * u[:, 2 * units :]).tanh()
        h = torch.lerp(n, h, z)
    return h
