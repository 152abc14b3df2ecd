"""The closed form of `fused.py` as one native loop over states, compiled by numba.

Optional: `pip install 'counterbc[fast]'`. Compiled at first use and cached beside this file where
that is writable.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


@cache
def available() -> bool:
    """Whether numba can be imported."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True


@cache
def _kernel() -> Any:
    from numba import njit, prange

    constant = np.float32(_HALF_LOG_2PI)
    one, half = np.float32(1), np.float32(0.5)

    def rows(mean: Any, log_std: Any, actions: Any, loss: Any, d_mean: Any, d_log_std: Any) -> None:
        states, size, count = actions.shape  # (N, A, M): samples last, so that loops vectorize
        for i in prange(states):
            log_pi = np.zeros(count, np.float32)
            offset = np.float32(0)
            for d in range(size):
                inverse, mu = np.exp(-log_std[i, d]), mean[i, d]
                offset += log_std[i, d] + constant
                for m in range(count):
                    z = (actions[i, d, m] - mu) * inverse
                    log_pi[m] -= half * z * z
            top = log_pi[0]
            for m in range(count):
                top = max(top, log_pi[m])
            total, weighted = np.float32(0), np.float32(0)
            p = np.empty(count, np.float32)
            for m in range(count):
                p[m] = np.exp(log_pi[m] - top)
            for m in range(count):
                total += p[m]
                weighted += p[m] * log_pi[m]
            value = offset - weighted / total
            loss[i] = value
            slopes = np.float32(0)
            for m in range(count):
                p[m] *= -(log_pi[m] - offset + value + one) / total  # ∂L/∂ℓ
                slopes += p[m]
            for d in range(size):
                inverse, mu = np.exp(-log_std[i, d]), mean[i, d]
                first, second = np.float32(0), np.float32(0)
                for m in range(count):
                    z = (actions[i, d, m] - mu) * inverse
                    first += p[m] * z
                    second += p[m] * z * z
                d_mean[i, d] = first * inverse
                d_log_std[i, d] = second - slopes

    return njit(parallel=True, cache=True, fastmath={"reassoc", "contract", "arcp", "nsz"})(rows)


def evaluate(mean: Tensor, log_std: Tensor, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What `fused.closed_form` returns, for float32 tensors on the CPU."""
    import numba

    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set at import
    numba.set_num_threads(min(torch.get_num_threads(), most))
    loss, d_mean, d_log_std = (
        mean.new_empty(len(mean)),
        torch.empty_like(mean),
        torch.empty_like(mean),
    )
    _kernel()(
        mean.detach().contiguous().numpy(),
        log_std.detach().contiguous().numpy(),
        actions.detach().transpose(1, 2).contiguous().numpy(),
        loss.numpy(),
        d_mean.numpy(),
        d_log_std.numpy(),
    )
    return loss, d_mean, d_log_std
