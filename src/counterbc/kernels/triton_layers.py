"""The steps of policies made of two ReLU layers and a Gaussian head, as one GPU kernel.

A program takes one network through a block of steps: gather, forward pass, loss, backward pass and
Adam. A second network of the same kind may weigh the pairs; see `StepForm`.
"""

from __future__ import annotations

import triton
import triton.language as tl

from counterbc.kernels.triton_parts import (
    linear,
    load_layer,
    losses,
    pick,
    positive,
    product,
    sigmoid,
    store_layer,
    tiles,
    update,
    zero_layer,
)

PLAIN, GIVEN, STATES, OPERATORS = (tl.constexpr(k) for k in range(4))
"""How pairs are weighed: not, by given numbers, by a network of the state or of the operator."""


@triton.jit
def numbers(SIZE: tl.constexpr):
    """Return how many parameters three layers have."""
    return (SIZE[0] + 1) * SIZE[1] + (SIZE[1] + 1) * SIZE[2] + (SIZE[2] + 1) * SIZE[3]


@triton.jit
def load_layers(memory, units, SIZE: tl.constexpr):
    """Return weights and biases of three layers."""
    w1, b1 = load_layer(memory, units[0], units[1], SIZE[0], SIZE[1])
    memory += (SIZE[0] + 1) * SIZE[1]
    w2, b2 = load_layer(memory, units[1], units[2], SIZE[1], SIZE[2])
    memory += (SIZE[1] + 1) * SIZE[2]
    w3, b3 = load_layer(memory, units[2], units[3], SIZE[2], SIZE[3])
    return w1, b1, w2, b2, w3, b3


@triton.jit
def store_layers(memory, units, values, SIZE: tl.constexpr):
    """Store weights and biases of three layers, or their gradient."""
    w1, b1, w2, b2, w3, b3 = values
    store_layer(memory, units[0], units[1], w1, b1, ROW=SIZE[0], COL=SIZE[1])
    memory += (SIZE[0] + 1) * SIZE[1]
    store_layer(memory, units[1], units[2], w2, b2, ROW=SIZE[1], COL=SIZE[2])
    memory += (SIZE[1] + 1) * SIZE[2]
    store_layer(memory, units[2], units[3], w3, b3, ROW=SIZE[2], COL=SIZE[3])


@triton.jit
def forward(x, params):
    """Return the outputs of two ReLU layers and of a linear one: (B, H1), (B, H2), (B, O)."""
    w1, b1, w2, b2, w3, b3 = params
    h1 = linear(x, w1, b1)
    h1 = positive(h1, h1)
    h2 = linear(h1, w2, b2)
    h2 = positive(h2, h2)
    return h1, h2, linear(h2, w3, b3)


@triton.jit
def backward(x, h1, h2, grad, params, sums):
    """Add the gradient by all parameters, from that by the output of the last layer (B, O)."""
    _, _, w2, _, w3, _ = params
    by_w1, by_b1, by_w2, by_b2, by_w3, by_b3 = sums
    by_w3, by_b3 = by_w3 + product(tl.trans(h2), grad), by_b3 + tl.sum(grad, 0)
    below = positive(h2, product(grad, tl.trans(w3)))
    by_w2, by_b2 = by_w2 + product(tl.trans(h1), below), by_b2 + tl.sum(below, 0)
    below = positive(h1, product(below, tl.trans(w2)))
    by_w1, by_b1 = by_w1 + product(tl.trans(x), below), by_b1 + tl.sum(below, 0)
    return by_w1, by_b1, by_w2, by_b2, by_w3, by_b3


@triton.jit
def zeros(TILE: tl.constexpr):
    """Return a gradient of three layers to add to."""
    by_w1, by_b1 = zero_layer(TILE[0], TILE[1])
    by_w2, by_b2 = zero_layer(TILE[1], TILE[2])
    by_w3, by_b3 = zero_layer(TILE[2], TILE[3])
    return by_w1, by_b1, by_w2, by_b2, by_w3, by_b3


@triton.jit
def log_sigmoid(x):
    return tl.where(x < 0, x, 0.0) - tl.log(1 + tl.exp(-tl.abs(x)))


@triton.jit
def read_pairs(
    data, at, live, unit_0, sample,
    S: tl.constexpr, AM: tl.constexpr, STORED: tl.constexpr,
):  # fmt: skip
    """Return states (B, S), and pointers to the first dimension of C(s, a): (B, M)."""
    position, pairs, obs, actions = data
    place = tl.load(position + at, live, 0)
    pair = tl.load(pairs + place)
    x = tl.load(obs + pair[:, None] * S + unit_0[None, :], (unit_0 < S)[None, :], 0.0)
    return x, actions + (place if STORED else pair)[:, None] * AM + sample[None, :]


@triton.jit
def state_softmax(
    data, now, batch, params, net, units, others, sample,
    M: tl.constexpr, STORED: tl.constexpr, SIZE: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    """Return the largest f of a batch, Σ exp(f − largest), and the average loss with R."""
    top, total, weighted = float("-inf"), 0.0, 0.0
    A: tl.constexpr = SIZE[3] // 2
    for begin in tl.range(0, batch, B, num_stages=1):
        row = begin + tl.arange(0, B)
        live, real = row < batch, (sample < M)[None, :]
        x, offered = read_pairs(
            data, now + row, live, units[0], sample, S=SIZE[0], AM=A * M, STORED=STORED
        )
        _, _, head = forward(x, params)
        loss_of, _ = losses(head, offered, units[3], real, A=A, M=M, B=B, SAMPLES=sample.shape[0])
        _, _, out = forward(x, net)
        f = tl.where(live, pick(out, others[3], 0), float("-inf"))
        new = tl.maximum(top, tl.max(f, 0))
        keep, share = tl.exp(top - new), tl.exp(f - new)
        total = total * keep + tl.sum(share, 0)
        weighted = weighted * keep + tl.sum(share * loss_of, 0)
        top = new
    return top, total, weighted / total


@triton.jit
def by_state(x, outputs, loss_of, share, softmax, column, net, sums):
    """Return R and the gradient by the network of the states, with that of these pairs added."""
    top, total, average = softmax
    g1, g2, out = outputs
    weights = tl.exp(pick(out, column, 0) - top) / total
    by_f = weights * (loss_of - average) * share
    by_out = tl.where(column[None, :] == 0, by_f[:, None], 0.0)
    return weights, backward(x, g1, g2, by_out, net, sums)


@triton.jit
def by_operator(x, outputs, loss_of, share, people, omegas, net, sums):
    """Return R, −log(ρ π + (1 − ρ) u), and the gradients by ω and by the network of the states.

    `people` are the operator of each pair and its log u; `omegas` are ω of all operators,
    (operators, E). The gradient by the network has that of these pairs added.
    """
    operator, log_uniform = people
    g1, g2, e = outputs
    every = tl.arange(0, omegas.shape[0])
    is_operator = (operator[:, None] == every[None, :]).to(tl.float32)  # (B, operators)
    omega = product(is_operator, omegas)  # (B, E)
    logit = tl.sum(e * omega, 1)
    weights = sigmoid(logit - loss_of - log_uniform)
    yes, no = log_sigmoid(logit) - loss_of, log_sigmoid(-logit) + log_uniform
    top = tl.maximum(yes, no)
    loss = -top - tl.log(tl.exp(yes - top) + tl.exp(no - top))
    by_logit = ((sigmoid(logit) - weights) * share)[:, None]
    by_omegas = product(tl.trans(is_operator), by_logit * e)
    return weights, loss, by_omegas, backward(x, g1, g2, by_logit * omega, net, sums)


@triton.jit
def load_network(memory, units, every, FORM: tl.constexpr, NET: tl.constexpr, PEOPLE: tl.constexpr):
    """Return the parameters of the network that weighs pairs, and ω of all operators."""
    net, omegas = 0.0, 0.0
    if FORM > GIVEN:
        net = load_layers(memory, units, NET)
    if FORM == OPERATORS:
        live = (every < PEOPLE)[:, None] & (units[3] < NET[3])[None, :]
        at = every[:, None] * NET[3] + units[3][None, :]
        omegas = tl.load(memory + numbers(NET) + at, live, 0.0)
    return net, omegas


@triton.jit
def store_network(
    memory, units, every, sums, by_omegas,
    FORM: tl.constexpr, NET: tl.constexpr, PEOPLE: tl.constexpr,
):  # fmt: skip
    """Store a gradient by the numbers that `load_network` returns."""
    if FORM > GIVEN:
        store_layers(memory, units, sums, NET)
    if FORM == OPERATORS:
        live = (every < PEOPLE)[:, None] & (units[3] < NET[3])[None, :]
        at = every[:, None] * NET[3] + units[3][None, :]
        tl.store(memory + numbers(NET) + at, by_omegas, live)


@triton.jit
def weigh(
    x, loss_of, share, at, live, column, operators, softmax, units, net, omegas, sums, by_omegas,
    FORM: tl.constexpr,
):  # fmt: skip
    """Return R and the auxiliary loss of each pair, and the gradients with theirs added."""
    weights, auxiliary = tl.full(loss_of.shape, 1.0, tl.float32), tl.zeros_like(loss_of)
    if FORM == GIVEN:
        weights = tl.load(column + at, live, 0.0)
    if FORM == STATES:
        outputs = forward(x, net)
        weights, sums = by_state(x, outputs, loss_of, share, softmax, units[3], net=net, sums=sums)
    if FORM == OPERATORS:
        people = tl.load(operators + at, live, 0), tl.load(column + at, live, 0.0)
        outputs = forward(x, net)
        weights, auxiliary, more, sums = by_operator(
            x, outputs, loss_of, share, people, omegas, net=net, sums=sums
        )
        by_omegas += more
    return weights, auxiliary, sums, by_omegas


@triton.jit(do_not_specialize=["steps", "networks", "width", "batch"])
def train_layers(
    position, pairs, obs, actions, column, operators, memory, scratch, sizes, roots, loss,
    steps, networks, width, batch,
    FORM: tl.constexpr, STORED: tl.constexpr, M: tl.constexpr, SAMPLES: tl.constexpr,
    SIZE: tl.constexpr, TILE: tl.constexpr, NET: tl.constexpr, NET_TILE: tl.constexpr,
    PEOPLE: tl.constexpr, PEOPLE_TILE: tl.constexpr, COUNT: tl.constexpr, B: tl.constexpr,
    CHUNK: tl.constexpr,
):  # fmt: skip
    """Take all steps of one network.

    `memory` holds the COUNT parameters of each network, then Adam's two moments of them. SIZE and
    NET are the widths of input and layers of the policy and of the network that weighs pairs, TILE
    and NET_TILE the same rounded up. A batch is read in tiles of B rows.
    """
    n = tl.program_id(0).to(tl.int64)
    A: tl.constexpr = SIZE[3] // 2
    policy: tl.constexpr = numbers(SIZE)
    units, others, sample = tiles(TILE), tiles(NET_TILE), tl.arange(0, SAMPLES)
    real, every = (sample < M)[None, :], tl.arange(0, PEOPLE_TILE)
    memory, scratch = memory + n * COUNT, scratch + n * COUNT
    data = position, pairs + n * width, obs, actions + (n * width * (A * M) if STORED else 0)
    for t in range(steps):
        now, total = (t * networks + n) * batch, 0.0
        params, sums, softmax = load_layers(memory, units, SIZE), zeros(TILE), 0.0
        net, omegas = load_network(memory + policy, others, every, FORM, NET=NET, PEOPLE=PEOPLE)
        net_sums, by_omegas = zeros(NET_TILE) if FORM > GIVEN else 0.0, omegas * 0
        if FORM == STATES:
            softmax = state_softmax(
                data, now, batch, params, net, units=units, others=others, sample=sample,
                M=M, STORED=STORED, SIZE=SIZE, B=B,
            )  # fmt: skip
        for begin in tl.range(0, batch, B, num_stages=1):
            row = begin + tl.arange(0, B)
            live, at = row < batch, now + row
            x, offered = read_pairs(
                data, at, live, units[0], sample, S=SIZE[0], AM=A * M, STORED=STORED
            )
            h1, h2, head = forward(x, params)
            loss_of, grad = losses(head, offered, units[3], real, A=A, M=M, B=B, SAMPLES=SAMPLES)
            share = tl.where(live, 1.0 / batch, 0.0)
            weights, auxiliary, net_sums, by_omegas = weigh(
                x, loss_of, share, at, live=live, column=column, operators=operators,
                softmax=softmax, units=others, net=net, omegas=omegas, sums=net_sums,
                by_omegas=by_omegas, FORM=FORM,
            )  # fmt: skip
            total += tl.sum((weights * loss_of + auxiliary) * share, 0)
            sums = backward(x, h1, h2, grad * (weights * share)[:, None], params, sums)
        tl.store(loss + n, total)
        store_layers(scratch, units, sums, SIZE)
        store_network(
            scratch + policy, others, every, net_sums, by_omegas,
            FORM=FORM, NET=NET, PEOPLE=PEOPLE,
        )  # fmt: skip
        size, root = tl.load(sizes + t), tl.load(roots + t)
        update(memory, scratch, networks * COUNT, COUNT, size, root=root, CHUNK=CHUNK)
