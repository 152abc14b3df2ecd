"""The steps of policies made of a GRU, one ReLU layer and a Gaussian head, as one GPU kernel.

A program takes one network through a block of steps, as in `triton_layers.py`. What the backward
pass needs of each step of the GRU lies in device memory; see `policies/gru.py` for the names.
"""

from __future__ import annotations

import triton
import triton.language as tl

from counterbc.kernels.triton_parts import (
    linear,
    load_layer,
    losses,
    positive,
    product,
    sigmoid,
    store_layer,
    tanh,
    tiles,
    update,
    zero_layer,
)

H_OLD, R, Z, N, U = (tl.constexpr(k) for k in range(5))
"""What is kept of each step: h before it, r, z, n, U_n h + b_n; then gradients by the last four."""


@triton.jit
def load_gates(memory, row, unit, ROW: tl.constexpr, H: tl.constexpr):
    """Return weights and biases of the gates r, z and n of a layer (ROW, 3 H)."""
    at, live = memory + row[:, None] * (3 * H) + unit[None, :], (row < ROW)[:, None]
    bias = memory + 3 * ROW * H + unit
    w_r, w_z = tl.load(at, live, 0.0), tl.load(at + H, live, 0.0)
    w_n = tl.load(at + 2 * H, live, 0.0)
    return w_r, tl.load(bias), w_z, tl.load(bias + H), w_n, tl.load(bias + 2 * H)


@triton.jit
def store_gates(memory, row, unit, values, ROW: tl.constexpr, H: tl.constexpr):
    """Store a gradient by the numbers that `load_gates` returns."""
    at, live = memory + row[:, None] * (3 * H) + unit[None, :], (row < ROW)[:, None]
    bias = memory + 3 * ROW * H + unit
    tl.store(at, values[0], live)
    tl.store(bias, values[1])
    tl.store(at + H, values[2], live)
    tl.store(bias + H, values[3])
    tl.store(at + 2 * H, values[4], live)
    tl.store(bias + 2 * H, values[5])


@triton.jit
def window(obs, pair, start, k, unit, S: tl.constexpr, T: tl.constexpr):
    """Return observation k of T of each pair's window: (B, S); zeros before its episode."""
    at = pair - (T - 1) + k
    live = (at >= start)[:, None] & (unit < S)[None, :]
    return tl.load(obs + at[:, None] * S + unit[None, :], live, 0.0)


@triton.jit
def gru_forward(
    obs, pair, start, memory, activations, units, at,
    S: tl.constexpr, H: tl.constexpr, T: tl.constexpr, B: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Return the last state (B, H), and keep what the backward pass needs at places `at`."""
    w_r, b_r, w_z, b_z, w_n, b_n = load_gates(memory, units[0], units[1], S, H)
    u_r, c_r, u_z, c_z, u_n, c_n = load_gates(memory + 3 * (S + 1) * H, units[1], units[1], H, H)
    h = tl.zeros((B, H), tl.float32)
    for k in tl.range(0, T, num_stages=1):
        here = activations + k * (5 * ROWS * H) + at
        x = window(obs, pair, start, k, units[0], S=S, T=T)
        tl.store(here, h)
        r = sigmoid(linear(x, w_r, b_r) + linear(h, u_r, c_r))
        tl.store(here + R * ROWS * H, r)
        u = linear(h, u_n, c_n)
        tl.store(here + U * ROWS * H, u)
        n = tanh(linear(x, w_n, b_n) + r * u)
        tl.store(here + N * ROWS * H, n)
        z = sigmoid(linear(x, w_z, b_z) + linear(h, u_z, c_z))
        tl.store(here + Z * ROWS * H, z)
        h = n + z * (h - n)
    tl.debug_barrier()
    return h


@triton.jit
def gru_backward(
    below, memory, activations, units, at,
    S: tl.constexpr, H: tl.constexpr, T: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Replace what is kept by its gradients, from the gradient by the last state (B, H)."""
    state = memory + 3 * (S + 1) * H
    u_r, _, u_z, _, u_n, _ = load_gates(state, units[1], units[1], H, H)
    for back in tl.range(0, T, num_stages=1):
        here = activations + (T - 1 - back) * (5 * ROWS * H) + at
        h, r, z = tl.load(here), tl.load(here + R * ROWS * H), tl.load(here + Z * ROWS * H)
        n, u = tl.load(here + N * ROWS * H), tl.load(here + U * ROWS * H)
        by_n = below * (1 - z) * (1 - n * n)
        by_z, by_r, by_u = below * (h - n) * z * (1 - z), by_n * u * r * (1 - r), by_n * r
        tl.store(here + R * ROWS * H, by_r)
        tl.store(here + Z * ROWS * H, by_z)
        tl.store(here + N * ROWS * H, by_n)
        tl.store(here + U * ROWS * H, by_u)
        below = below * z + product(by_r, tl.trans(u_r)) + product(by_z, tl.trans(u_z))
        below += product(by_u, tl.trans(u_n))


@triton.jit
def add_gates(x, by_r, by_z, by_n, sums):
    """Add the gradient by weights and biases of three gates that read x."""
    return (
        sums[0] + product(tl.trans(x), by_r), sums[1] + tl.sum(by_r, 0),
        sums[2] + product(tl.trans(x), by_z), sums[3] + tl.sum(by_z, 0),
        sums[4] + product(tl.trans(x), by_n), sums[5] + tl.sum(by_n, 0),
    )  # fmt: skip


@triton.jit
def gru_gradient(
    obs, starts, pairs, place, activations, scratch, units, batch, STATE: tl.constexpr,
    S: tl.constexpr, H: tl.constexpr, T: tl.constexpr, ROWS: tl.constexpr, SOME: tl.constexpr,
):  # fmt: skip
    """Store the gradient by the layer of the states, or of the inputs, from what is kept.

    The rows of a batch are read SOME at a time.
    """
    weight, bias = zero_layer(units[1 if STATE else 0].shape[0], H)
    sums = weight, bias, weight, bias, weight, bias
    for begin in tl.range(0, batch, SOME, num_stages=1):
        row = begin + tl.arange(0, SOME)
        live, at = (row < batch)[:, None], row[:, None] * H + units[1][None, :]
        pair = tl.load(pairs + tl.load(place + row, row < batch, 0))
        start = tl.load(starts + pair)
        for k in tl.range(0, T, num_stages=1):
            here = activations + k * (5 * ROWS * H) + at
            by_r = tl.load(here + R * ROWS * H, live, 0.0)
            by_z = tl.load(here + Z * ROWS * H, live, 0.0)
            if STATE:
                by_u = tl.load(here + U * ROWS * H, live, 0.0)
                sums = add_gates(tl.load(here, live, 0.0), by_r, by_z, by_u, sums)
            else:
                x = window(obs, pair, start, k, units[0], S=S, T=T)
                by_n = tl.load(here + N * ROWS * H, live, 0.0)
                sums = add_gates(x, by_r, by_z, by_n, sums)
    if STATE:
        store_gates(scratch + 3 * (S + 1) * H, units[1], units[1], sums, H, H)
    else:
        store_gates(scratch, units[0], units[1], sums, S, H)


@triton.jit(do_not_specialize=["steps", "networks", "width", "batch"])
def train_gru(
    position, pairs, starts, obs, actions, memory, scratch, activations, sizes, roots, loss,
    steps, networks, width, batch,
    SIZE: tl.constexpr, TILE: tl.constexpr, T: tl.constexpr, STORED: tl.constexpr,
    M: tl.constexpr, SAMPLES: tl.constexpr, COUNT: tl.constexpr, B: tl.constexpr,
    ROWS: tl.constexpr, SOME: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """Take all steps of one network; SIZE is S, the units of GRU and layer, and 2 A.

    `memory`, TILE and B are as in `train_layers`; ROWS is the batch rounded up.
    """
    n = tl.program_id(0).to(tl.int64)
    S: tl.constexpr = SIZE[0]
    H: tl.constexpr = SIZE[1]
    A: tl.constexpr = SIZE[3] // 2
    second: tl.constexpr = 3 * (S + 1 + H + 1) * H
    last: tl.constexpr = second + (H + 1) * SIZE[2]
    row, sample = tl.arange(0, B), tl.arange(0, SAMPLES)
    units, real = tiles(TILE), (sample < M)[None, :]
    memory, scratch, pairs = memory + n * COUNT, scratch + n * COUNT, pairs + n * width
    activations += n * (T * 5 * ROWS * H)
    actions += n * width * (A * M) if STORED else 0
    for t in range(steps):
        total, now = 0.0, position + (t * networks + n) * batch
        w2, b2 = load_layer(memory + second, units[1], units[2], H, SIZE[2])
        w3, b3 = load_layer(memory + last, units[2], units[3], SIZE[2], SIZE[3])
        by_w2, by_b2 = zero_layer(TILE[1], TILE[2])
        by_w3, by_b3 = zero_layer(TILE[2], TILE[3])
        for begin in tl.range(0, batch, B, num_stages=1):
            live, at = begin + row < batch, (begin + row)[:, None] * H + units[1][None, :]
            place = tl.load(now + begin + row, live, 0)
            pair = tl.load(pairs + place)
            start = tl.load(starts + pair)
            offered = actions + (place if STORED else pair)[:, None] * (A * M) + sample[None, :]
            h1 = gru_forward(
                obs, pair, start, memory, activations, units, at=at, S=S, H=H, T=T, B=B, ROWS=ROWS
            )
            h2 = linear(h1, w2, b2)
            h2 = positive(h2, h2)
            head = linear(h2, w3, b3)
            loss_of, grad = losses(head, offered, units[3], real, A=A, M=M, B=B, SAMPLES=SAMPLES)
            total += tl.sum(tl.where(live, loss_of, 0.0), 0)
            grad = tl.where(live[:, None], grad / batch, 0.0)
            by_w3, by_b3 = by_w3 + product(tl.trans(h2), grad), by_b3 + tl.sum(grad, 0)
            below = positive(h2, product(grad, tl.trans(w3)))
            by_w2, by_b2 = by_w2 + product(tl.trans(h1), below), by_b2 + tl.sum(below, 0)
            below = product(below, tl.trans(w2))
            gru_backward(below, memory, activations, units, at, S=S, H=H, T=T, ROWS=ROWS)
        tl.store(loss + n, total / batch)
        tl.debug_barrier()
        store_layer(scratch + second, units[1], units[2], by_w2, by_b2, ROW=H, COL=SIZE[2])
        store_layer(scratch + last, units[2], units[3], by_w3, by_b3, ROW=SIZE[2], COL=SIZE[3])
        for state in tl.static_range(2):
            gru_gradient(
                obs, starts, pairs, now, activations, scratch, units=units, batch=batch,
                STATE=state, S=S, H=H, T=T, ROWS=ROWS, SOME=SOME,
            )  # fmt: skip
        size, root = tl.load(sizes + t), tl.load(roots + t)
        update(memory, scratch, networks * COUNT, COUNT, size, root=root, CHUNK=CHUNK)
