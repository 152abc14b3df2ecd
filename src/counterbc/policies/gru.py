"""A GRU over a short window, with its gradient written out.

    r = σ(x_r + U_r h)   z = σ(x_z + U_z h)   n = tanh(x_n + r (U_n h + b_n))   h' = (1 − z) n + z h

where x = W s + b comes in, for all steps at once. Written out, the five steps of BC-RNN take a
third of the time that autograd under vmap takes. All tensors carry a leading dimension of N
networks: x (N, T, B, 3H), weight (N, H, 3H), bias (N, 1, 3H).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def _forward(x: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, ...]:
    """Of every step: h (with the first, zero), (r, z), n and U_n h + b_n: (N, T, B, …) each."""
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
    """Gradients of x, weight and bias from that of the last h."""
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
    """One network, or by the vmap rule N of them."""

    @staticmethod
    def forward(x: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, ...]:
        h, *rest = _forward(x, weight, bias)
        return h[:, -1].clone(), h, *rest

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*output[1:], inputs[1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return _backward(grad, *ctx.saved_tensors)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], *inputs: Tensor
    ) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """Under vmap each tensor has a leading one of its own, which the networks take."""
        stacked = [
            x.expand(info.batch_size, *x.shape[1:]) if d is None else x.movedim(d, 0).squeeze(1)
            for x, d in zip(inputs, in_dims, strict=True)
        ]
        last, *rest = _apply(*stacked)
        return tuple(x.unsqueeze(1) for x in (last, *rest)), (0,) * 5


_apply: Callable[..., tuple[Tensor, ...]] = _GRU.apply


def gru(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The last state of one network: x (T, B, 3H), weight (H, 3H), bias (3H,) → (B, H)."""
    h = _apply(x.unsqueeze(0), weight.unsqueeze(0), bias[None, None])[0]
    return h.squeeze(0)
