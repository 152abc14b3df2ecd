"""The closed form of `fused.py` as one native loop over states, compiled by numba.

Optional: `pip install 'counterbc[fast]'`. Compiled at first use and kept beside this file where
that is writable. Importing this module needs numba.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
import torch
from numba import njit, prange
from torch import Tensor

f, i32 = np.float32, np.int32
ZERO, ONE, HALF, HALF_LOG_2PI = f(0), f(1), f(0.5), f(0.5 * math.log(2 * math.pi))
LOG2E, LN2_HIGH, LN2_LOW = f(1.44269504), f(0.693359375), f(-2.12194440e-4)
C3, C4, C5, C6 = f(0.16666667), f(0.041666485), f(0.0083333), f(0.0013998)
LEAST, BIAS, SHIFT = f(-87.0), i32(127), i32(23)
# Functions are inlined, else a process that compiles calls other machine code than one that loads
# what was compiled. No "nnan" or "ninf": a member that diverged must show it.
FAST = {"reassoc", "contract", "arcp", "nsz"}


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def exponentials(x: Any, bits: Any, powers: Any, out: Any) -> None:
    """exp of x ≤ 0 to about 1e-7, as arithmetic that vectorizes; `powers` views `bits`."""
    for m in range(len(x)):
        clipped = max(x[m], LEAST)
        k = np.floor(clipped * LOG2E + HALF)
        r = clipped - k * LN2_HIGH - k * LN2_LOW
        bits[m] = (i32(k) + BIAS) << SHIFT  # 2ᵏ
        out[m] = ONE + r + r * r * (HALF + r * (C3 + r * (C4 + r * (C5 + r * C6))))
    for m in range(len(x)):
        out[m] *= powers[m]


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def states(
    mean: Any, log_std: Any, actions: Any, rows: Any, loss: Any, d_mean: Any, d_log_std: Any
) -> None:
    """L (B,), ∂L/∂μ and ∂L/∂log σ (B, A) of states whose C(s, a) are rows of actions (N, A, M).

    Samples come last, so that the loops over them vectorize.
    """
    _, size, count = actions.shape
    log_pi, p = np.empty(count, np.float32), np.empty(count, np.float32)
    bits, inverse = np.empty(count, np.int32), np.empty(size, np.float32)
    powers = bits.view(np.float32)
    for i in range(len(rows)):
        row = rows[i]
        log_pi[:] = ZERO
        offset = ZERO
        for d in range(size):
            scale, mu = math.exp(-log_std[i, d]), mean[i, d]
            inverse[d] = scale
            offset += log_std[i, d] + HALF_LOG_2PI
            for m in range(count):
                z = (actions[row, d, m] - mu) * scale
                log_pi[m] -= HALF * z * z
        top = log_pi[0]
        for m in range(count):
            top = max(top, log_pi[m])
        for m in range(count):
            log_pi[m] -= top
        exponentials(log_pi, bits, powers, p)
        total, weighted = ZERO, ZERO
        for m in range(count):
            total += p[m]
            weighted += p[m] * log_pi[m]
        average = weighted / total
        loss[i] = offset - top - average
        slopes = ZERO
        for m in range(count):
            p[m] *= (average - log_pi[m] - ONE) / total  # ∂L/∂ℓ
            slopes += p[m]
        for d in range(size):
            scale, mu = inverse[d], mean[i, d]
            first, second = ZERO, ZERO
            for m in range(count):
                z = (actions[row, d, m] - mu) * scale
                first += p[m] * z
                second += p[m] * z * z
            d_mean[i, d] = first * scale
            d_log_std[i, d] = second - slopes


@njit(parallel=True, cache=True, fastmath=FAST, error_model="numpy")
def kernel(
    mean: Any, log_std: Any, actions: Any, loss: Any, d_mean: Any, d_log_std: Any, chunks: int
) -> None:
    for chunk in prange(chunks):
        a, b = len(mean) * chunk // chunks, len(mean) * (chunk + 1) // chunks
        rows = np.arange(a, b)
        states(mean[a:b], log_std[a:b], actions, rows, loss[a:b], d_mean[a:b], d_log_std[a:b])


@contextmanager
def threads() -> Iterator[int]:
    """As many threads for numba as torch has, and torch's left as they were."""
    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set at import
    before = torch.get_num_threads()
    count = min(before, most)
    numba.set_num_threads(count)
    yield count
    if torch.get_num_threads() != before:  # numba's OpenMP pool sets the count of the process
        torch.set_num_threads(before)


def evaluate(mean: Tensor, log_std: Tensor, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What `fused.closed_form` returns, for float32 tensors on the CPU."""
    loss = mean.new_empty(len(mean))
    d_mean, d_log_std = torch.empty_like(mean), torch.empty_like(mean)
    with threads() as count:
        kernel(
            mean.detach().contiguous().numpy(),
            log_std.detach().contiguous().numpy(),
            actions.detach().transpose(1, 2).contiguous().numpy(),
            loss.numpy(),
            d_mean.numpy(),
            d_log_std.numpy(),
            min(4 * count, max(1, len(mean) // 16)),
        )
    return loss, d_mean, d_log_std
