"""The closed form of `policies/fused.py` as one native loop over states, compiled by numba.

Importing this module needs numba: `pip install 'counterbc[fast]'`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit

from counterbc.kernels.numba_vector import (
    C3,
    C4,
    C5,
    C6,
    FAST,
    HALF,
    INT,
    LANES,
    LN2_HIGH,
    LN2_LOW,
    LOG2E,
    ONE,
    Code,
    cgutils,
    data_of,
    exp,
    exp_of_low,
    f,
    i32,
    if_below,
    inline,
    intrinsic,
    keep_first,
    largest,
    load,
    splat,
    store,
    total,
    types,
)

LOWEST_LOG = f(-3e38)
ZERO, HALF_LOG_2PI = f(0), f(0.5 * math.log(2 * math.pi))
_LINE = 16  # numbers of a cache line
_GROUP = 16  # states whose sums are computed together
LOWEST, BIAS, SHIFT = f(-87.0), i32(127), i32(23)


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


@intrinsic
def prefetch(typing: Any, array: Any, index: Any) -> tuple[Any, Code]:
    """Bring the place of a number of a flat array into the cache."""

    def code(context: Any, builder: ir.IRBuilder, sign: Any, args: Any) -> ir.Value:
        data = data_of(context, builder, sign.args[0], args[0])
        place = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, INT, INT, INT])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, *(ir.Constant(INT, x) for x in (0, 3, 1))])  # read, keep
        return context.get_dummy_value()

    return types.void(array, types.intp), code


class Gaussians(NamedTuple):
    """μ, log σ and 1/σ of a block of states with the gradients by the first two: (B, A) each."""

    mean: Any
    log_std: Any
    inverse: Any
    d_mean: Any
    d_log_std: Any


@inline
def inverse_scales(log_std: Any, inverse: Any) -> None:
    """Write 1/σ of log σ; both are contiguous."""
    count = log_std.size
    for i in range(0, count, LANES):
        store(inverse, i, count - i, exp(splat(ZERO) - load(log_std, i, count - i)))


@inline
def states(block: Gaussians, actions: Any, rows: Any, loss: Any) -> None:
    """Write L (B,), ∂L/∂μ and ∂L/∂log σ of states whose C(s, a) are rows of actions (N, A, M).

    Actions (N, A) are the only ones of their sets. Each of the two is compiled without the other.
    """
    if actions.ndim == 2:
        single_actions(block, actions, rows, loss)
        return
    size = actions.shape[2] + LANES
    room = np.empty((_GROUP, 2 * size + 3), np.float32)  # one array, as each costs time
    for begin in range(0, len(rows), _GROUP):  # one state alone waits for its own sums
        count = min(_GROUP, len(rows) - begin)
        fetch(actions, rows[begin + count : begin + count + _GROUP])
        for k in range(count):
            room[k, -1] = likelihoods(begin + k, block, actions, rows[begin + k], room[k, :size])
        for k in range(count):
            line = room[k]
            exponentiate(line[-1], actions.shape[2], line[:size], line[size:-3], line[-3:])
        for k in range(count):
            i, line = begin + k, room[k]
            share = ONE / line[-3]
            average = line[-2] * share
            offset = gradients(
                i, block, actions, rows[i], log_pi=line, p=line[size:], share=share, average=average
            )
            loss[i] = offset - line[-1] - average


@inline
def single_actions(block: Gaussians, actions: Any, rows: Any, loss: Any) -> None:
    """Do the same where C(s, a) = {a}."""
    for i in range(len(rows)):
        value = ZERO
        for d in range(actions.shape[1]):
            scale = block.inverse[i, d]
            z = (actions[rows[i], d] - block.mean[i, d]) * scale
            value += block.log_std[i, d] + HALF_LOG_2PI + HALF * z * z
            block.d_mean[i, d] = -z * scale
            block.d_log_std[i, d] = ONE - z * z
        loss[i] = value


@inline
def fetch(actions: Any, rows: Any) -> None:
    """Bring rows of actions into the cache, which the next states need."""
    size = actions.shape[1] * actions.shape[2]
    for row in rows:
        for j in range(0, size, _LINE):
            prefetch(actions, row * size + j)


@inline
def likelihoods(i: int, block: Gaussians, actions: Any, row: int, log_pi: Any) -> np.float32:
    """Write log π of state i's actions but for what they share; return the largest."""
    _, size, count = actions.shape
    begin, tops = row * size * count, splat(LOWEST_LOG)
    for m in range(0, count, LANES):
        value = splat(ZERO)
        for d in range(size):
            a, mu = load(actions, begin + d * count + m, count - m), splat(block.mean[i, d])
            z = (a - mu) * splat(block.inverse[i, d])
            value = value + z * z
        value = keep_first(value * splat(-HALF), count - m, splat(LOWEST_LOG))
        tops = if_below(tops, value, value, tops)
        store(log_pi, m, LANES, value)
    top: np.float32 = largest(tops)
    return top


@inline
def exponentiate(top: Any, count: int, log_pi: Any, p: Any, result: Any) -> None:
    """Subtract the largest log π from all, and write p = exp of them, Σ p and Σ p log p."""
    sums, moments = splat(ZERO), splat(ZERO)
    for m in range(0, count, LANES):
        value = load(log_pi, m, LANES) - splat(top)
        power = keep_first(exp_of_low(value), count - m, splat(ZERO))
        sums, moments = sums + power, moments + power * value
        store(log_pi, m, LANES, value)
        store(p, m, LANES, power)
    result[0], result[1] = total(sums), total(moments)


@inline
def gradients(
    i: int, block: Gaussians, actions: Any, row: int, log_pi: Any, p: Any, share: Any, average: Any
) -> np.float32:
    """Write ∂L/∂μ and ∂L/∂log σ of state i; return what its log π have in common, negated.

    `share` is 1 / Σ p, and `average` the mean of log π under p; p becomes ∂L/∂ℓ.
    """
    _, size, count = actions.shape
    begin, offset, least = row * size * count, ZERO, splat(average - ONE)
    for d in range(size):
        offset += block.log_std[i, d] + HALF_LOG_2PI
        mu, scale = splat(block.mean[i, d]), splat(block.inverse[i, d])
        first, second = splat(ZERO), splat(ZERO)
        for m in range(0, count, LANES):
            z = (load(actions, begin + d * count + m, count - m) - mu) * scale
            slope = load(p, m, LANES)
            if d == 0:
                slope = slope * (least - load(log_pi, m, LANES)) * splat(share)
                store(p, m, LANES, slope)
            first, second = first + slope * z, second + slope * z * z
        block.d_mean[i, d] = total(first) * block.inverse[i, d]
        block.d_log_std[i, d] = total(second) + ONE  # the sum of ∂L/∂ℓ is −1
    return offset
