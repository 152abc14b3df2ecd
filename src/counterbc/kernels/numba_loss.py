"""Training steps by torch with the closed-form loss of a Gaussian as one native loop by numba.

Importing this module needs numba.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from counterbc.kernels.closed_form import loss_misfit
from counterbc.kernels.numba_cache import cached_njit
from counterbc.kernels.numba_gaussian import (
    Gaussians,
    inverse_scales,
    states,
)
from counterbc.kernels.numba_vector import FAST
from counterbc.kernels.step_kernel import StepCase
from counterbc.kernels.threads import share
from counterbc.kernels.torch_kernel import TorchKernel
from counterbc.policies.fused import evaluated_by
from counterbc.policies.gaussian import Gaussian
from counterbc.weightings.weighting import Batch

_STATES = 512  # of a slice; fewer would take less time than another thread needs to begin


@cached_njit(nogil=True, fastmath=FAST, error_model="numpy")
def some_states(
    begin: int, end: int, mean: Any, log_std: Any, d_mean: Any, d_log_std: Any, actions: Any,
    loss: Any,
) -> None:  # fmt: skip
    """Evaluate some of the states."""
    inverse = np.empty((end - begin, mean.shape[1]), np.float32)
    inverse_scales(log_std[begin:end], inverse)
    block = Gaussians(
        mean[begin:end], log_std[begin:end], inverse, d_mean[begin:end], d_log_std[begin:end]
    )
    states(block, actions, np.arange(begin, end), loss[begin:end])


def evaluate(mean: Tensor, log_std: Tensor, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return what `fused.closed_form` returns, for float32 tensors on the CPU."""
    loss, only = mean.new_empty(len(mean)), actions.shape[1] == 1
    d_mean, d_log_std = torch.empty_like(mean), torch.empty_like(mean)
    arrays = {
        "mean": mean.detach().contiguous().numpy(),
        "log_std": log_std.detach().contiguous().numpy(),
        "d_mean": d_mean.numpy(),
        "d_log_std": d_log_std.numpy(),
        "actions": (actions[:, 0] if only else actions.mT).detach().contiguous().numpy(),
        "loss": loss.numpy(),
    }
    share(lambda begin, end: some_states(begin, end, **arrays), len(mean), _STATES)
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
