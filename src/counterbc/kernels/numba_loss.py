"""Training steps by torch with the closed-form loss of a Gaussian as one native loop by numba.

Importing this module needs numba.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from numba import prange
from torch import Tensor

from counterbc.kernels.closed_form import loss_misfit
from counterbc.kernels.numba_gaussian import FAST, Gaussians, cached_njit, states, threads
from counterbc.kernels.step_kernel import StepCase
from counterbc.kernels.torch_kernel import TorchKernel
from counterbc.policies.fused import evaluated_by
from counterbc.policies.gaussian import Gaussian
from counterbc.weightings.weighting import Batch


@cached_njit(parallel=True, fastmath=FAST, error_model="numpy")
def all_states(
    mean: Any, log_std: Any, d_mean: Any, d_log_std: Any, actions: Any, loss: Any, chunks: int
) -> None:
    """Evaluate all states, in chunks that threads share."""
    for chunk in prange(chunks):
        a, b = len(loss) * chunk // chunks, len(loss) * (chunk + 1) // chunks
        part = Gaussians(mean[a:b], log_std[a:b], d_mean[a:b], d_log_std[a:b])
        states(part, actions, np.arange(a, b), loss[a:b])


def evaluate(mean: Tensor, log_std: Tensor, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return what `fused.closed_form` returns, for float32 tensors on the CPU."""
    loss = mean.new_empty(len(mean))
    d_mean, d_log_std = torch.empty_like(mean), torch.empty_like(mean)
    with threads() as count:
        all_states(
            mean=mean.detach().contiguous().numpy(),
            log_std=log_std.detach().contiguous().numpy(),
            d_mean=d_mean.numpy(),
            d_log_std=d_log_std.numpy(),
            actions=actions.detach().transpose(1, 2).contiguous().numpy(),
            loss=loss.numpy(),
            chunks=min(4 * count, max(1, len(mean) // 16)),
        )
    return loss, d_mean, d_log_std


class NumbaLossKernel(TorchKernel):
    """Steps by torch, where the loss of a Gaussian and its gradient are native code."""

    name: ClassVar[str] = "torch, numba loss"

    @classmethod
    def misfit(cls, case: StepCase) -> str | None:
        kind = type(case.policy)
        if not issubclass(kind, Gaussian) or not kind.is_fused():
            return f"the policy {kind.__name__} defines a loss that this kernel does not compute"
        return loss_misfit(case, "cpu")

    def losses(self, batch: Batch) -> Tensor:
        with evaluated_by(evaluate):
            return super().losses(batch)
