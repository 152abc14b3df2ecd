"""Adam on stacked parameters, which equals one Adam per network."""

from __future__ import annotations

import torch
from torch import Tensor

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """torch's fused kernel without the bookkeeping of torch.optim, which weighs on small steps.

    A test holds it equal to `torch.optim.Adam`.
    """

    def __init__(self, params: list[Tensor], learning_rate: float) -> None:
        self.params, self.learning_rate = params, learning_rate
        self.first = [torch.zeros_like(p, requires_grad=False) for p in params]
        self.second = [torch.zeros_like(p, requires_grad=False) for p in params]
        # The kernel wants a counter per tensor; they are one.
        self.count = torch.zeros((), device=params[0].device)
        self.counts = [self.count] * len(params)

    @torch.no_grad()
    def step(self, grads: list[Tensor]) -> None:
        self.count.add_(1)
        grads = [g.contiguous() for g in grads]  # the kernel takes memory as it lies
        torch._fused_adam_(
            self.params, grads, self.first, self.second, [], self.counts,
            lr=self.learning_rate, beta1=BETA_1, beta2=BETA_2, weight_decay=0.0, eps=EPSILON,
            amsgrad=False, maximize=False,
        )  # fmt: skip
