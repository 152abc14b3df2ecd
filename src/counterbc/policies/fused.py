"""Counter-BC's loss of a Gaussian policy and its gradient in one pass over the counterfactuals.

With z = (a' − μ)/σ, ℓ = log π(a'|s) and p = softmax(ℓ) over C(s, a), eq. M4 and its gradient are

    L = −Σ p ℓ      ∂L/∂ℓ = −p (ℓ + L + 1)      ∂ℓ/∂μ = z/σ      ∂ℓ/∂log σ = z² − 1

per dimension, so neither needs a graph of (B, M, A) intermediates. A kernel may replace
`closed_form` by native code that agrees with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def closed_form(mean: Tensor, log_std: Tensor, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return L (N,), ∂L/∂μ and ∂L/∂log σ (N, A) from μ, log σ (N, A) and actions (N, M, A)."""
    inverse = (-log_std).exp()
    z = (actions - mean.unsqueeze(1)).transpose(1, 2) * inverse.unsqueeze(2)  # (N, A, M)
    square = z.square()
    log_pi = -0.5 * square.sum(1)  # (N, M), without its constant
    top = log_pi.amax(1, keepdim=True)
    log_pi = log_pi - top  # otherwise rounding loses the 1 in ∂L/∂ℓ where |ℓ| is large
    p = log_pi.softmax(1)
    average = (p * log_pi).sum(1, keepdim=True)
    constant = log_std.sum(1) + mean.shape[1] * HALF_LOG_2PI
    loss = constant - (top + average).squeeze(1)
    slope = -p * (log_pi - average + 1)  # ∂L/∂ℓ: (N, M)
    column = slope.unsqueeze(2)
    d_mean = (z @ column).squeeze(2) * inverse
    d_log_std = (square @ column).squeeze(2) - slope.sum(1, keepdim=True)
    return loss, d_mean, d_log_std


Evaluate = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]
_evaluate: ContextVar[Evaluate] = ContextVar("evaluate", default=closed_form)


@contextmanager
def evaluated_by(evaluate: Evaluate) -> Iterator[None]:
    """Compute the loss by another function than `closed_form` within this context."""
    token = _evaluate.set(evaluate)
    try:
        yield
    finally:
        _evaluate.reset(token)


class _CrossEntropy(torch.autograd.Function):
    """The loss of independent states; the forward pass also computes the gradient."""

    @staticmethod
    def forward(mean: Tensor, log_std: Tensor, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return _evaluate.get()(mean, log_std, actions)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*output[1:])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Tensor) -> tuple[Tensor, Tensor, None]:
        d_mean, d_log_std = ctx.saved_tensors
        column = grad.unsqueeze(1)
        return column * d_mean, column * d_log_std, None

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], *inputs: Tensor
    ) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """Treat P batches of B rows as one batch of P · B rows, since rows are independent."""
        rows = [
            (x.expand(info.batch_size, *x.shape) if d is None else x.movedim(d, 0)).flatten(0, 1)
            for x, d in zip(inputs, in_dims, strict=True)
        ]
        out = _CrossEntropy.apply(*rows)  # type: ignore[no-untyped-call]  # torch's
        return tuple(x.unflatten(0, (info.batch_size, -1)) for x in out), (0, 0, 0)


def gaussian_cross_entropy(mean: Tensor, log_std: Tensor, actions: Tensor) -> Tensor:
    """Return −Σ π̂ · log π of a Gaussian, eq. M4: (…, B).

    μ and log σ are (…, B, A), actions (…, B, M, A).
    """
    rows: Tensor = _CrossEntropy.apply(  # type: ignore[no-untyped-call]  # torch's
        mean.flatten(0, -2), log_std.flatten(0, -2), actions.flatten(0, -3)
    )[0]
    return rows.view(mean.shape[:-1])
