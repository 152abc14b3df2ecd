"""The weights R of the states of a batch, as native code: the kinds of `StepForm`.

Importing this module needs numba.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from counterbc.kernels.numba_vector import (
    LANES,
    exp,
    f,
    if_below,
    inline,
    keep_first,
    largest,
    load,
    splat,
    store,
    total,
)

ZERO, ONE, LOWEST = f(0), f(1), f(-3e38)


@inline
def softmax(x: Any) -> None:
    """Replace numbers (B,) by their softmax; where one is NaN, all are."""
    count, tops, sums = len(x), splat(LOWEST), splat(ZERO)
    for i in range(0, count, LANES):
        value = keep_first(load(x, i, count - i), count - i, splat(LOWEST))
        tops = if_below(tops, value, value, tops)
    top = splat(largest(tops))
    for i in range(0, count, LANES):
        value = keep_first(exp(load(x, i, count - i) - top), count - i, splat(ZERO))
        sums = sums + value
        store(x, i, count - i, value)
    share = splat(ONE / total(sums))
    for i in range(0, count, LANES):
        store(x, i, count - i, load(x, i, count - i) * share)


@inline
def batch_softmax(columns: Any, places: Any, weights: Any, spare: Any) -> None:
    """Write the mean over k of the softmax of column k (n, K) over the places of a batch."""
    shards = columns.shape[1]
    weights[:] = ZERO
    for k in range(shards):
        for b in range(len(places)):
            spare[b] = columns[places[b], k]
        softmax(spare)
        for b in range(len(places)):
            weights[b] += spare[b] / f(shards)


@inline
def operator_weights(
    logit: Any, loss: Any, log_uniform: Any, weights: Any, by_logit: Any
) -> np.float32:
    """Write R and ∂/∂logit of Σ −log(ρ π + (1 − ρ) u), and return that sum.

    With o = log(ρ/(1 − ρ)) and d = o + log π − log u, R is σ(d), the loss of a state is
    log(1 + eᵒ) − log u − log(1 + eᵈ), and its gradient by o is ρ − R.
    """
    result = ZERO
    for b in range(len(logit)):
        odds, uniform = logit[b], log_uniform[b]
        difference = odds - loss[b] - uniform
        rho, share = ONE / (ONE + math.exp(-odds)), ONE / (ONE + math.exp(-difference))
        weights[b], by_logit[b] = share, rho - share
        result += soft_plus(odds) - uniform - soft_plus(difference)
    return result


@inline
def soft_plus(x: np.float32) -> np.float32:
    """Return log(1 + eˣ)."""
    value: np.float32 = max(x, ZERO) + math.log(ONE + math.exp(-abs(x)))
    return value
