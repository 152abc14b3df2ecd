"""The closed form of `policies/fused.py` as one native loop over states, compiled by numba.

Importing this module needs numba: `pip install 'counterbc[fast]'`. Code is compiled at first use
and stored beside this file where that is writable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import numba
import numpy as np
import torch
from numba import njit

from counterbc.kernels.compiling import announce_compiling

f, i32 = np.float32, np.int32
ZERO, ONE, HALF, HALF_LOG_2PI = f(0), f(1), f(0.5), f(0.5 * math.log(2 * math.pi))
LOG2E, LN2_HIGH, LN2_LOW = f(1.44269504), f(0.693359375), f(-2.12194440e-4)
C3, C4, C5, C6 = f(0.16666667), f(0.041666485), f(0.0083333), f(0.0013998)
LOWEST, BIAS, SHIFT = f(-87.0), i32(127), i32(23)
# Functions are inlined; otherwise a process that compiles them would run other machine code than
# one that loads them. No "nnan" or "ninf": a member that diverged must show it.
FAST = {"reassoc", "contract", "arcp", "nsz"}


def cached_njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator as numba's that stores machine code for the next process if it can.

    In a container the package may be read-only and the user without a home, and a disk may be full.
    The function is then compiled in every process.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            dispatcher = njit(cache=True, **options)(function)
        except RuntimeError:  # there is no folder to store the code in
            return njit(**options)(function)
        cache = dispatcher._cache
        save, load = cache.save_overload, cache.load_overload

        def load_or_announce(*arguments: Any) -> Any:
            code = load(*arguments)
            if code is None:
                announce_compiling()
            return code

        def save_if_possible(*arguments: Any) -> None:
            with suppress(OSError):
                save(*arguments)

        cache.save_overload, cache.load_overload = save_if_possible, load_or_announce
        return dispatcher

    return decorate


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def exponentials(x: Any, bits: Any, powers: Any, out: Any) -> None:
    """Write exp of x ≤ 0 to about 1e-7, by arithmetic that vectorizes; `powers` views `bits`."""
    for m in range(len(x)):
        value = max(x[m], LOWEST)
        k = np.floor(value * LOG2E + HALF)
        r = value - k * LN2_HIGH - k * LN2_LOW
        bits[m] = (i32(k) + BIAS) << SHIFT  # 2ᵏ
        out[m] = ONE + r + r * r * (HALF + r * (C3 + r * (C4 + r * (C5 + r * C6))))
    for m in range(len(x)):
        out[m] *= powers[m]


class Gaussians(NamedTuple):
    """μ and log σ of a block of states with the gradients by them: (B, A) each."""

    mean: Any
    log_std: Any
    d_mean: Any
    d_log_std: Any


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def states(block: Gaussians, actions: Any, rows: Any, loss: Any) -> None:
    """Write L (B,), ∂L/∂μ and ∂L/∂log σ of states whose C(s, a) are rows of actions (N, A, M).

    Samples come last, so that the loops over them vectorize.
    """
    mean, log_std, d_mean, d_log_std = block
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
        total, moment = ZERO, ZERO
        for m in range(count):
            total += p[m]
            moment += p[m] * log_pi[m]
        average = moment / total
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


@contextmanager
def threads() -> Iterator[int]:
    """Give numba as many threads as torch has, and leave torch's number unchanged."""
    limit: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set at import
    before = torch.get_num_threads()
    count = min(before, limit)
    numba.set_num_threads(count)
    yield count
    if torch.get_num_threads() != before:  # numba's OpenMP pool sets the count of the process
        torch.set_num_threads(before)
