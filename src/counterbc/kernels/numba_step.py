"""Training steps of one network after the other as native code, each while it is in cache.

Importing this module needs numba.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from counterbc.kernels import adam
from counterbc.kernels.numba_cache import cached_njit
from counterbc.kernels.numba_chain import Chain, backward, forward, make_chain, update
from counterbc.kernels.numba_gaussian import Gaussians, states
from counterbc.kernels.numba_gru import gru_backward, gru_forward, gru_units
from counterbc.kernels.numba_mixture import HIGH, LOW, mixture_losses
from counterbc.kernels.numba_vector import (
    FAST,
    LANES,
    ONE,
    copy,
    exp,
    f,
    if_below,
    inline,
    inline_source,
    load,
    splat,
    store,
    tanh,
)
from counterbc.kernels.numba_weights import batch_softmax, operator_weights, softmax

BETA_1, BETA_2 = adam.BETA_1, adam.BETA_2
ZERO = f(0)


class Data(NamedTuple):
    """The pairs that the networks learn from in a block of steps."""

    position: Any  # (steps, N, B): places in the rows of `pairs`
    pairs: Any  # (N, n): rows of `obs`
    obs: Any  # (T, S)
    starts: Any  # (T,): the first row of each row's episode
    actions: Any  # (N · n, A, M) where counterfactuals are kept, else (T, A), or (T, A, 1)
    stored: bool
    """Whether counterfactuals are kept in memory."""


@inline
def gather(n: int, places: Any, data: Data, rows: Any, history: int, x: Any) -> None:
    """Write the windows of network n's states to x, ordered by time, and the rows of actions."""
    pairs, obs, batch, size = data.pairs, data.obs, len(places), data.obs.shape[1]
    for b in range(batch):
        pair = pairs[n, places[b]]
        rows[b] = n * pairs.shape[1] + places[b] if data.stored else pair
        for t in range(history):
            row, at = pair - (history - 1) + t, (t * batch + b) * size
            if row >= data.starts[pair]:
                for j in range(size):
                    x[at + j] = obs[row, j]
            else:
                x[at : at + size] = ZERO


@inline
def gaussian_losses(head: Any, grad: Any, actions: Any, rows: Any, loss: Any, spare: Any) -> None:
    """Write L (B,) of the states and its gradient by the head (B, 2 A), before tanh and clamp."""
    batch, size = len(head), actions.shape[1]
    count, low, high = 2 * batch * size, splat(LOW), splat(HIGH)
    block = spare[: 3 * count].reshape(3, batch, 2 * size)
    by = spare[3 * count : 4 * count].reshape(2, batch, size)
    for i in range(0, count, LANES):
        raw = load(head, i, count - i)
        log_std = if_below(raw, low, low, if_below(high, raw, high, raw))  # NaN stays
        store(spare, i, count - i, tanh(raw))
        store(spare, count + i, count - i, log_std)
        store(spare, 2 * count + i, count - i, exp(splat(ZERO) - log_std))
    mean, log_std_of, inverse = block[0], block[1, :, size:], block[2, :, size:]
    states(Gaussians(mean, log_std_of, inverse, by[0], by[1]), actions, rows, loss)
    for b in range(batch):
        for d in range(size):
            raw_value = head[b, size + d]
            grad[b, d] = by[0, b, d] * (ONE - mean[b, d] * mean[b, d])
            is_out = raw_value < LOW or raw_value > HIGH
            grad[b, size + d] = ZERO if is_out else by[1, b, d]


@inline
def weigh_by_operator(
    n: int, places: Any, operators: Any, columns: Any, operator: Any, theta: Any, loss: Any,
    weights: Any, net: Chain, grads: Any,
) -> np.float32:  # fmt: skip
    """Write R (B,) and the gradients by the embeddings e(s) and ω; return Σ −log(ρ π + (1 − ρ) u).

    `operator` is where ω begins in θ, of which it is the end, and the size of an embedding.
    """
    batch, (begin, size) = len(places), operator
    out, by_out = net.units[net.places[-2] :], net.back[net.places[-2] :]
    grads[begin:] = ZERO
    logit, log_uniform, by_logit = np.empty(batch, f), np.empty(batch, f), np.empty(batch, f)
    for b in range(batch):
        at, value = begin + operators[n, places[b]] * size, ZERO
        for j in range(size):
            value += theta[at + j] * out[b * size + j]
        logit[b], log_uniform[b] = value, columns[n, places[b], 0]
    extra = operator_weights(logit, loss, log_uniform, weights, by_logit)
    for b in range(batch):
        at, slope = begin + operators[n, places[b]] * size, by_logit[b] / f(batch)
        for j in range(size):
            grads[at + j] += slope * out[b * size + j]
            by_out[b * size + j] = slope * theta[at + j]
    return extra


@inline
def weigh_by_state(loss: Any, weights: Any, net: Chain) -> None:
    """Write R (B,), the softmax of the network's output, and the gradient by that output."""
    batch, at, average = len(loss), net.places[-2], ZERO
    copy(net.units, at, weights, 0, batch)
    softmax(weights)
    for b in range(batch):
        average += weights[b] * loss[b]
    for b in range(batch):
        net.back[at + b] = weights[b] * (loss[b] - average) / f(batch)


@inline
def weigh_by_column(n: int, places: Any, columns: Any, column: Any, weights: Any) -> None:
    """Write R (B,): a column, or the softmax of columns over the batch, or 1 without columns."""
    if column is not None:
        for b in range(len(places)):
            weights[b] = columns[n, places[b], 0]
    elif columns is not None:
        batch_softmax(columns[n], places, weights, np.empty(len(places), np.float32))
    else:
        weights[:] = ONE


@inline
def apply_weights(weights: Any, loss: Any, by_head: Any) -> np.float32:
    """Return Σ R L, and scale the gradients by the head by R / B."""
    result, batch = ZERO, len(loss)
    for b in range(batch):
        result += weights[b] * loss[b]
        for j in range(by_head.shape[1]):
            by_head[b, j] *= weights[b] / f(batch)
    return result


@inline_source
def train_one(
    n: int, data: Data, columns: Any, operators: Any, chain: Any, gru: Any, modes: Any,
    weighting: Any, operator: Any, column: Any, memory: Any, rate: float, first_step: int,
) -> np.float32:  # fmt: skip
    """Take all steps of network n, whose parameters and Adam's moments are memory[:, n]."""
    steps, _, batch = data.position.shape
    theta, first, second = memory[0, n], memory[1, n], memory[2, n]
    grads, spare = np.empty_like(theta), np.empty_like(theta)
    policy, inputs, history = make_chain(chain, batch), data.obs.shape[1], 1
    head = policy.units[policy.places[-2] :].reshape(batch, -1)
    by_head = policy.back[policy.places[-2] :].reshape(batch, -1)
    rows, loss, weights = np.empty(batch, np.int64), np.empty(batch, f), np.empty(batch, f)
    room, x, result = np.empty(4 * head.size, np.float32), policy.units, ZERO
    if gru is not None:
        history, hidden = gru[2], batch * gru[1]
        x, cell = np.empty(history * batch * inputs, f), gru_units(history, batch, gru[1])
    if weighting is not None:
        net = make_chain(weighting, batch)
    for t in range(steps):
        places = data.position[t, n]
        gather(n, places, data, rows, history, x)
        if weighting is not None:
            copy(x, batch * inputs * (history - 1), net.units, 0, batch * inputs)
            forward(theta, net, batch)
        if gru is not None:
            gru_forward(theta, gru, x, batch, cell)
            copy(cell.h, history * hidden, policy.units, 0, hidden)
        forward(theta, policy, batch)
        if modes is None:
            gaussian_losses(head, by_head, data.actions, rows, loss, room)
        else:
            mixture_losses(head, by_head, data.actions, rows, modes, loss)
        result = ZERO
        if operator is not None:
            result = weigh_by_operator(
                n=n, places=places, operators=operators, columns=columns, operator=operator,
                theta=theta, loss=loss, weights=weights, net=net, grads=grads,
            )  # fmt: skip
        elif weighting is not None:
            weigh_by_state(loss, weights, net)
        else:
            weigh_by_column(n, places, columns, column, weights)
        result += apply_weights(weights, loss, by_head)
        if weighting is not None:
            backward(theta, net, batch, grads, spare, False)
        backward(theta, policy, batch, grads, spare, gru is not None)
        if gru is not None:
            copy(policy.back, 0, cell.dh, 0, hidden)
            gru_backward(theta, gru, x, cell, grads, spare)
        step = first_step + t
        size, root = f(rate / (1 - BETA_1**step)), f(math.sqrt(1 - BETA_2**step))
        update(theta, grads, first, second, size, root)
    return result / f(batch)


@cached_njit(nogil=True, fastmath=FAST, error_model="numpy")
def train_some(
    begin: int, end: int, position: Any, pairs: Any, obs: Any, starts: Any, actions: Any,
    stored: bool, columns: Any, operators: Any, chain: Any, gru: Any, modes: Any, weighting: Any,
    operator: Any, column: Any, memory: Any, rate: float, first_step: int, loss: Any,
) -> None:  # fmt: skip
    """Take all steps of some networks, whose parameters lie in flat memory (3, N, all).

        columns, operators    what the weighting knows of the pairs: (N, n, K), (N, n)
        chain, weighting      the layers of the policy and of the weighting's network
        gru, operator         the places of a GRU and of the operators' embeddings
        modes                 the modes of a mixture
        column                whether a column is the weights

    What a training does not have is None and is not compiled. Named tuples as arguments would cost
    a millisecond a call.
    """
    data = Data(position, pairs, obs, starts, actions, stored)
    for n in range(begin, end):
        loss[n] = train_one(
            n=n, data=data, columns=columns, operators=operators, chain=chain, gru=gru, modes=modes,
            weighting=weighting, operator=operator, column=column, memory=memory, rate=rate,
            first_step=first_step,
        )  # fmt: skip
