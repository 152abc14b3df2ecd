"""Adam on stacked parameters, which equals one Adam per network."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8
_FIRST_STEPS = 9.0
"""A moving average weighs step t by 9 / (9 + t) at first, to forget the initial parameters."""


class Adam:
    """Adam by torch's fused kernel, without the bookkeeping of `torch.optim`.

    The bookkeeping would cost more than a small step. The kernel is private to torch: where torch
    does not have it, public functions compute the same update.
    """

    def __init__(self, params: list[Tensor], learning_rate: float, ema_share: float = 0.0) -> None:
        """`ema_share` is the share of each step in a moving average of the parameters; 0: none."""
        self.params, self.learning_rate = params, learning_rate
        self.first = [torch.zeros_like(p, requires_grad=False) for p in params]
        self.second = [torch.zeros_like(p, requires_grad=False) for p in params]
        self.ema_share = ema_share
        self.ema = [p.detach().clone() for p in params] if ema_share else []
        # The kernel takes one counter per tensor; here they are the same tensor.
        self.count = torch.zeros((), device=params[0].device)
        self.counts = [self.count] * len(params)
        self.fused = fused_adam(params[0].device.type)

    @torch.no_grad()
    def step(self, grads: list[Tensor]) -> None:
        """Update the parameters in place."""
        self.count.add_(1)
        if self.fused is None:
            self._plain_step(grads)
        else:
            grads = [g.contiguous() for g in grads]  # the kernel reads memory in order
            options = _options(self.learning_rate)
            self.fused(self.params, grads, self.first, self.second, [], self.counts, **options)
        if self.ema_share:
            self._update_ema()

    def _update_ema(self) -> None:
        share = (_FIRST_STEPS / (_FIRST_STEPS + self.count)).clamp(min=self.ema_share)
        changes = torch._foreach_sub(self.params, self.ema)
        torch._foreach_mul_(changes, share)
        torch._foreach_add_(self.ema, changes)

    def _plain_step(self, grads: list[Tensor]) -> None:
        count = self.count.double()
        size = self.learning_rate / (1 - BETA_1**count)
        root = (1 - BETA_2**count).sqrt()
        for p, grad, first, second in zip(self.params, grads, self.first, self.second, strict=True):
            first.lerp_(grad, 1 - BETA_1)
            second.mul_(BETA_2).addcmul_(grad, grad, value=1 - BETA_2)
            p.sub_(size.to(p) * first / (second.sqrt() / root.to(p) + EPSILON))

    def of(self, params: list[Tensor]) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Return some of the parameters, and the first and second moments of their gradients."""
        order = [next(k for k, p in enumerate(self.params) if p is param) for param in params]
        return params, [self.first[k] for k in order], [self.second[k] for k in order]

    def state(self) -> list[Tensor]:
        """Return every tensor that a step changes."""
        return [self.count, *self.params, *self.first, *self.second, *self.ema]


@cache
def fused_adam(device: str) -> Callable[..., None] | None:
    """Return torch's fused kernel, or None where it is missing or takes other arguments."""
    fused: Callable[..., None] | None = getattr(torch, "_fused_adam_", None)
    if fused is None:
        return None
    p, grad, first, second = (torch.full((1,), x, device=device) for x in (1.0, 1.0, 0.0, 0.0))
    try:
        count = torch.ones((), device=device)
        fused([p], [grad], [first], [second], [], [count], **_options(0.5))
    except (TypeError, RuntimeError):
        return None
    return fused if abs(float(p) - 0.5) < 1e-6 else None


def _options(learning_rate: float) -> dict[str, Any]:
    """Return the arguments of the fused kernel beside its tensors."""
    return {
        "lr": learning_rate, "beta1": BETA_1, "beta2": BETA_2, "weight_decay": 0.0, "eps": EPSILON,
        "amsgrad": False, "maximize": False,
    }  # fmt: skip
