"""A GRU of one network over a short window, and its gradient, as native code.

The equations and their names are those of `policies/gru.py`. Rows are ordered by time: row
t · B + b is observation t of the window of state b. Importing this module needs numba.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterbc.kernels.numba_chain import add_gradients
from counterbc.kernels.numba_product import Matrix, add_bias, add_matrix, transpose
from counterbc.kernels.numba_vector import (
    LANES,
    ONE,
    copy,
    f,
    inline,
    load,
    sigmoid,
    splat,
    store,
    tanh,
)


class Units(NamedTuple):
    """What the forward pass of a GRU keeps: T steps of B states, H units."""

    x: Any  # (T · B, 3 H): W s + b
    u: Any  # (B, 3 H): U h + b of one step
    r: Any  # (T · B, H), as all that follow
    z: Any
    n: Any
    last: Any  # U_n h + b_n
    h: Any  # ((T + 1) · B, H): the first B rows are 0
    du: Any  # (T · B, 3 H): gradients by U h + b
    dn: Any  # (T · B, H): gradients by x_n
    dh: Any  # (B, H)


@inline
def gru_units(steps: int, rows: int, units: int) -> Any:
    """Return the memory of a GRU."""
    whole, row = steps * rows * units, rows * units
    h, x, u = np.zeros(whole + row, f), np.empty(3 * whole, f), np.empty(3 * row, f)
    r, z, n, last = (
        np.empty(whole, f),
        np.empty(whole, f),
        np.empty(whole, f),
        np.empty(whole, f),
    )
    du, dn, dh = np.empty(3 * whole, f), np.empty(whole, f), np.empty(row, f)
    return Units(x=x, u=u, r=r, z=z, n=n, last=last, h=h, du=du, dn=dn, dh=dh)


@inline
def gates(t: int, rows: int, units: int, memory: Units) -> None:
    """Compute r, z, n and h of step t from x and u."""
    x, u, r, z, n, last, h, _, _, _ = memory
    for b in range(rows):
        row = t * rows + b
        for j in range(0, units, LANES):
            rest, at_u, at_x = units - j, 3 * units * b + j, 3 * units * row + j
            now, middle = row * units + j, units
            r_ = sigmoid(load(x, at_x, rest) + load(u, at_u, rest))
            z_ = sigmoid(load(x, at_x + middle, rest) + load(u, at_u + middle, rest))
            last_ = load(u, at_u + 2 * middle, rest)
            n_ = tanh(load(x, at_x + 2 * middle, rest) + r_ * last_)
            store(r, now, rest, r_)
            store(z, now, rest, z_)
            store(last, now, rest, last_)
            store(n, now, rest, n_)
            before = load(h, now, rest)
            store(h, now + rows * units, rest, n_ + z_ * (before - n_))


@inline
def gru_forward(theta: Any, gru: Any, obs: Any, rows: int, memory: Units) -> None:
    """Compute the states of all steps from observations (T · B, S).

    `gru` has S, H, T, and where weight and bias of input and state begin in θ.
    """
    size, units, steps, at_input, at_input_bias, at_state, at_state_bias = gru
    wide = 3 * units
    add_bias(
        Matrix(obs, 0, size, 1), Matrix(theta, at_input, wide, 1), Matrix(memory.x, 0, wide, 1),
        Matrix(theta, at_input_bias, 0, 1), (steps * rows, wide, size),
    )  # fmt: skip
    for t in range(steps):
        if t == 0:  # h is 0
            for b in range(rows):
                copy(theta, at_state_bias, memory.u, b * wide, wide)
        else:
            add_bias(
                Matrix(memory.h, t * rows * units, units, 1), Matrix(theta, at_state, wide, 1),
                Matrix(memory.u, 0, wide, 1), Matrix(theta, at_state_bias, 0, 1),
                (rows, wide, units),
            )  # fmt: skip
        gates(t, rows, units, memory)


@inline
def gate_gradients(t: int, rows: int, units: int, memory: Units) -> None:
    """Compute the gradients by u and x_n of step t from that by h; that by h becomes z dh."""
    _, _, r, z, n, last, h, du, dn, dh = memory
    one = splat(ONE)
    for b in range(rows):
        row = t * rows + b
        for j in range(0, units, LANES):
            rest, now, at_u = units - j, row * units + j, 3 * units * row + j
            r_, z_, n_ = load(r, now, rest), load(z, now, rest), load(n, now, rest)
            grad = load(dh, b * units + j, rest)
            d_n = grad * (one - z_) * (one - n_ * n_)
            store(dn, now, rest, d_n)
            store(du, at_u, rest, d_n * load(last, now, rest) * (r_ * (one - r_)))
            d_z = grad * (load(h, now, rest) - n_) * (z_ * (one - z_))
            store(du, at_u + units, rest, d_z)
            store(du, at_u + 2 * units, rest, d_n * r_)
            store(dh, b * units + j, rest, grad * z_)


@inline
def gru_backward(theta: Any, gru: Any, obs: Any, memory: Units, grads: Any, spare: Any) -> None:
    """Write the gradients by the parameters, given that by the last h in `memory.dh`."""
    size, units, steps, at_input, at_input_bias, at_state, at_state_bias = gru
    wide, whole = 3 * units, len(memory.dn) // units
    rows = whole // steps
    transpose(theta, at_state, units, wide, spare)
    for t in range(steps - 1, -1, -1):
        gate_gradients(t, rows, units, memory)
        if t > 0:
            dh = Matrix(memory.dh, 0, units, 1)
            grad = Matrix(memory.du, t * rows * wide, wide, 1)
            add_matrix(grad, Matrix(spare, 0, units, 1), dh, dh, (rows, units, wide))
    h, du = Matrix(memory.h, 0, units, 1), Matrix(memory.du, 0, wide, 1)
    dn, s = Matrix(memory.dn, 0, units, 1), Matrix(obs, 0, size, 1)
    add_gradients(h, du, grads, (at_state, at_state_bias, wide), (whole, units, wide))
    add_gradients(s, du, grads, (at_input, at_input_bias, wide), (whole, size, 2 * units))
    place = (at_input + 2 * units, at_input_bias + 2 * units, wide)
    add_gradients(s, dn, grads, place, (whole, size, units))
