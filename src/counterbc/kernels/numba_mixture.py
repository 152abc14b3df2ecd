"""Counter-BC's loss of a mixture and its gradient as one native loop over states, by numba.

With ℓ_k = log w_k + log N(a'; μ_k, σ_k²), ℓ = log Σ_k exp ℓ_k and p = softmax(ℓ) over C(s, a),
eq. M4 and its gradient are

    L = −Σ p ℓ      ∂L/∂ℓ_k = −p (ℓ + L + 1) · exp(ℓ_k − ℓ)

and from there each mode is one Gaussian, as in `policies/fused.py`. Importing this module needs
numba.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from counterbc.kernels.numba_gaussian import HALF_LOG_2PI, ZERO, exponentials
from counterbc.kernels.numba_vector import FAST, HALF, LN2_HIGH, LN2_LOW, ONE, f, i32
from counterbc.policies.gaussian import LOG_STD_RANGE

LOW, HIGH = f(LOG_STD_RANGE[0]), f(LOG_STD_RANGE[1])
ROOT_HALF, SHIFT = i32(0x3F3504F3), i32(23)  # the bits of √½; those of a mantissa
L3, L4, L5, L6 = f(3.3333331174e-1), f(-2.4999993993e-1), f(2.0000714765e-1), f(-1.6668057665e-1)
L7, L8, L9, L10 = f(1.4249322787e-1), f(-1.2420140846e-1), f(1.1676998740e-1), f(-1.1514610310e-1)
L11 = f(7.0376836292e-2)
FAINT = f(-40.0)  # exp of less is 0: products of two such would be denormal, which is slow


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def logarithms(x: Any, bits: Any, mantissas: Any, out: Any) -> None:
    """Write log of x ≥ 1 to about 1e-7, by arithmetic that vectorizes; `mantissas` views `bits`."""
    number = x.view(np.int32)
    for m in range(len(x)):
        power = i32((number[m] - ROOT_HALF) >> SHIFT)
        bits[m] = number[m] - (power << SHIFT)  # of x / 2ᵖ, from √½ to √2
        out[m] = f(power)
    for m in range(len(x)):
        power, r = out[m], mantissas[m] - ONE
        high = L7 + r * (L8 + r * (L9 + r * (L10 + r * L11)))
        cube = r * r * r * (L3 + r * (L4 + r * (L5 + r * (L6 + r * high))))
        out[m] = r + (cube + power * LN2_LOW - HALF * r * r) + power * LN2_HIGH


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def likelihoods(x: Any, bits: Any, powers: Any, out: Any) -> None:
    """Write exp of x ≤ 0, and 0 where it is tiny; NaN stays."""
    exponentials(x, bits, powers, out)
    for m in range(len(x)):
        out[m] = ZERO if x[m] < FAINT else out[m]


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def unpack(row: Any, w: Any, constant: Any, mean: Any, inverse: Any) -> np.float32:
    """Write w and log w − Σ log σ (K,), μ and 1/σ (K, A) of a row before softmax, tanh and clamp.

    Returns 0, or NaN where one of them is NaN: maxima do not always show it.
    """
    modes, size = mean.shape
    top, total, trace = row[0], ZERO, ZERO
    for k in range(modes):
        top = max(top, row[k])
    for k in range(modes):
        w[k] = math.exp(row[k] - top)
        total += w[k]
    for k in range(modes):
        w[k] /= total
        constant[k] = row[k] - top - math.log(total) - f(size) * HALF_LOG_2PI
        for d in range(size):
            mean[k, d] = math.tanh(row[modes + k * size + d])
            raw = row[modes + (modes + k) * size + d]
            log_std = LOW if raw < LOW else HIGH if raw > HIGH else raw  # NaN stays
            inverse[k, d] = math.exp(-log_std)
            constant[k] -= log_std
            trace += mean[k, d]
        trace += constant[k]
    return trace * ZERO


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def log_modes(
    actions: Any, constant: Any, mean: Any, inverse: Any, log_pi_k: Any, peak: Any
) -> None:
    """Write ℓ_k less its largest over k, (K, M), and that, (M,), of actions (A, M)."""
    modes, count = log_pi_k.shape
    for k in range(modes):
        for m in range(count):
            log_pi_k[k, m] = constant[k]
        for d in range(len(actions)):
            mu, scale = mean[k, d], inverse[k, d]
            for m in range(count):
                z = (actions[d, m] - mu) * scale
                log_pi_k[k, m] -= HALF * z * z
    for m in range(count):
        peak[m] = log_pi_k[0, m]
    for k in range(1, modes):
        for m in range(count):
            peak[m] = max(peak[m], log_pi_k[k, m])
    for k in range(modes):
        for m in range(count):
            log_pi_k[k, m] -= peak[m]


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def slopes(log_pi: Any, bits: Any, powers: Any, p: Any) -> np.float32:
    """Return L from ℓ (M,), and write ∂L/∂ℓ to p."""
    top, total, moment = log_pi[0], ZERO, ZERO
    for m in range(len(p)):
        top = max(top, log_pi[m])
    for m in range(len(p)):
        log_pi[m] -= top
    likelihoods(log_pi, bits, powers, p)
    for m in range(len(p)):
        total += p[m]
        moment += p[m] * log_pi[m]
    average = moment / total
    for m in range(len(p)):
        p[m] *= (average - log_pi[m] - ONE) / total
    loss: np.float32 = -top - average
    return loss


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def by_modes(
    row: Any, actions: Any, w: Any, mean: Any, inverse: Any, slope: Any, grad: Any
) -> None:
    """Write the gradient by a head's row, given ∂L/∂ℓ_k (K, M)."""
    modes, size = mean.shape
    all_shares = ZERO
    for k in range(modes):
        share = ZERO
        for m in range(slope.shape[1]):
            share += slope[k, m]
        grad[k] = share
        all_shares += share
        for d in range(size):
            mu, scale = mean[k, d], inverse[k, d]
            first, second = ZERO, ZERO
            for m in range(slope.shape[1]):
                z = (actions[d, m] - mu) * scale
                first += slope[k, m] * z
                second += slope[k, m] * z * z
            grad[modes + k * size + d] = first * scale * (ONE - mu * mu)
            at = modes + (modes + k) * size + d
            grad[at] = ZERO if row[at] < LOW or row[at] > HIGH else second - share
    for k in range(modes):
        grad[k] -= w[k] * all_shares


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def mixture_losses(head: Any, grad: Any, actions: Any, rows: Any, modes: int, loss: Any) -> None:
    """Write L (B,) of a block of states and its gradient by the head.

    `head` (B, K + 2 K A) is what the last layer returns. C(s, a) of each state is a row of actions
    (N, A, M); samples come last, so that the loops over them vectorize.
    """
    _, size, count = actions.shape
    w, constant = np.empty(modes, np.float32), np.empty(modes, np.float32)
    mean, inverse = np.empty((modes, size), np.float32), np.empty((modes, size), np.float32)
    flat, share = np.empty(modes * count, np.float32), np.empty(modes * count, np.float32)
    bits = np.empty(modes * count, np.int32)
    powers, log_pi_k, shares = (
        bits.view(np.float32),
        flat.reshape(modes, -1),
        share.reshape(modes, -1),
    )
    peak, sums = np.empty(count, np.float32), np.empty(count, np.float32)
    log_pi, p = np.empty(count, np.float32), np.empty(count, np.float32)
    some_bits, some_powers = bits[:count], powers[:count]
    for b in range(len(head)):
        offered = actions[rows[b]]
        value = unpack(head[b], w, constant, mean, inverse)
        log_modes(offered, constant, mean, inverse, log_pi_k, peak)
        likelihoods(flat, bits, powers, share)
        sums[:] = ZERO
        for k in range(modes):
            for m in range(count):
                sums[m] += shares[k, m]
        logarithms(sums, some_bits, some_powers, log_pi)
        for m in range(count):
            log_pi[m] += peak[m]
        loss[b] = value + slopes(log_pi, some_bits, some_powers, p)
        for m in range(count):
            p[m] /= sums[m]
        for k in range(modes):
            for m in range(count):
                shares[k, m] *= p[m]
        by_modes(head[b], offered, w, mean, inverse, slope=shares, grad=grad[b])
