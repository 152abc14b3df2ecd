"""What the Triton kernels share: layers, the loss of a Gaussian head, and Adam.

A layer (ROW, COL) lies in memory as its weights by rows, then its bias. Tiles have sides that are
powers of two; beyond the size of a layer they hold zeros.
"""

from __future__ import annotations

import math

import triton
import triton.language as tl

from counterbc.kernels import adam
from counterbc.policies.gaussian import LOG_STD_RANGE

LOW, HIGH = tl.constexpr(LOG_STD_RANGE[0]), tl.constexpr(LOG_STD_RANGE[1])
HALF_LOG_2PI = tl.constexpr(0.5 * math.log(2 * math.pi))
KEEP_2, EPSILON = tl.constexpr(adam.BETA_2), tl.constexpr(adam.EPSILON)
NEW_1, NEW_2 = tl.constexpr(1 - adam.BETA_1), tl.constexpr(1 - adam.BETA_2)
PRECISION = tl.constexpr("tf32x3")  # three products of TF32 have the accuracy of one of float32


@triton.jit
def product(a, b):
    return tl.dot(a, b, input_precision=PRECISION)


@triton.jit
def positive(h, value):
    """Return a value where h > 0, else 0; NaN stays."""
    return tl.where(h <= 0, 0.0, value)


@triton.jit
def sigmoid(x):
    return 1 / (1 + tl.exp(-x))


@triton.jit
def tanh(x):
    return 1 - 2 / (tl.exp(2 * x) + 1)


@triton.jit
def tiles(TILE: tl.constexpr):
    """Return the numbers of the units of input and layers."""
    first, second = tl.arange(0, TILE[0]), tl.arange(0, TILE[1])
    return first, second, tl.arange(0, TILE[2]), tl.arange(0, TILE[3])


@triton.jit
def load_layer(memory, row, column, ROW: tl.constexpr, COL: tl.constexpr):
    """Return weights and bias of a layer as tiles."""
    live = (row < ROW)[:, None] & (column < COL)[None, :]
    weight = tl.load(memory + row[:, None] * COL + column[None, :], live, 0.0)
    return weight, tl.load(memory + ROW * COL + column, column < COL, 0.0)


@triton.jit
def store_layer(memory, row, column, weight, bias, ROW: tl.constexpr, COL: tl.constexpr):
    """Store weights and bias of a layer, or its gradient."""
    live = (row < ROW)[:, None] & (column < COL)[None, :]
    tl.store(memory + row[:, None] * COL + column[None, :], weight, live)
    tl.store(memory + ROW * COL + column, bias, column < COL)


@triton.jit
def zero_layer(ROW: tl.constexpr, COL: tl.constexpr):
    """Return a gradient of a layer to add to."""
    return tl.zeros((ROW, COL), tl.float32), tl.zeros((COL,), tl.float32)


@triton.jit
def linear(x, weight, bias):
    return product(x, weight) + bias[None, :]


@triton.jit
def pick(table, columns, number):
    """Return one column of a table: (B, O) → (B,)."""
    return tl.sum(tl.where(columns[None, :] == number, table, 0.0), 1)


@triton.jit
def gaussian(head, column, d: tl.constexpr, A: tl.constexpr):
    """Return μ, log σ before its clamp, log σ and 1/σ of dimension d: (B,) each."""
    raw = pick(head, column, A + d)
    log_std = tl.where(raw < LOW, LOW, tl.where(raw > HIGH, HIGH, raw))  # NaN stays
    return tanh(pick(head, column, d)), raw, log_std, tl.exp(-log_std)


@triton.jit
def losses(
    head, actions, column, real,
    A: tl.constexpr, M: tl.constexpr, B: tl.constexpr, SAMPLES: tl.constexpr,
):  # fmt: skip
    """Return L (B,) and its gradient by the head (B, O), as `policies/fused.py` derives them.

    `actions` are pointers to the first dimension of C(s, a): (B, M). Dimensions are read twice
    rather than held.
    """
    log_pi = tl.zeros((B, SAMPLES), tl.float32) + tl.where(real, 0.0, float("-inf"))
    constant = tl.zeros((B,), tl.float32) + A * HALF_LOG_2PI
    for d in tl.static_range(A):
        mean, _, log_std, inverse = gaussian(head, column, d, A)
        z = (tl.load(actions + d * M, real, 0.0) - mean[:, None]) * inverse[:, None]  # (B, M)
        log_pi -= 0.5 * z * z
        constant += log_std
    top = tl.max(log_pi, 1)
    log_pi = log_pi - top[:, None]
    p = tl.exp(log_pi)
    p = p / tl.sum(p, 1)[:, None]
    log_pi = tl.where(real, log_pi, 0.0)
    average = tl.sum(p * log_pi, 1)
    slope = -p * (log_pi - average[:, None] + 1)
    all_slope = tl.sum(slope, 1)
    grad = tl.zeros_like(head)
    for d in tl.static_range(A):
        mean, raw, _, inverse = gaussian(head, column, d, A)
        z = (tl.load(actions + d * M, real, 0.0) - mean[:, None]) * inverse[:, None]
        by_mean = tl.sum(slope * z, 1) * inverse * (1 - mean * mean)
        by_log_std = tl.sum(slope * z * z, 1) - all_slope
        by_log_std = tl.where((raw < LOW) | (raw > HIGH), 0.0, by_log_std)
        grad = tl.where(column[None, :] == d, by_mean[:, None], grad)
        grad = tl.where(column[None, :] == A + d, by_log_std[:, None], grad)
    return constant - top - average, grad


@triton.jit
def update(memory, scratch, spread, count, size, root, CHUNK: tl.constexpr):
    """Update `count` parameters as torch's fused Adam does, from the gradient in `scratch`.

    `size` is lr / (1 − β₁ᵗ), `root` is √(1 − β₂ᵗ). The moments lie `spread` and twice that far
    behind the parameters.
    """
    tl.debug_barrier()  # the gradient was written by other threads
    for begin in tl.range(0, count, CHUNK, num_stages=1):
        at = begin + tl.arange(0, CHUNK)
        live = at < count
        grad = tl.load(scratch + at, live, 0.0)
        m = tl.load(memory + spread + at, live, 0.0)
        v = tl.load(memory + 2 * spread + at, live, 0.0)
        m = m + NEW_1 * (grad - m)
        v = KEEP_2 * v + NEW_2 * grad * grad
        p = tl.load(memory + at, live, 0.0) - size * m / (tl.sqrt(v) / root + EPSILON)
        tl.store(memory + at, p, live)
        tl.store(memory + spread + at, m, live)
        tl.store(memory + 2 * spread + at, v, live)
    tl.debug_barrier()  # the next step reads what this one wrote
