"""ReLU layers of one network, their gradient, and Adam, as native code.

All parameters of a network lie in one flat array θ, and their gradients in another. The table of a
chain has a row for each layer: inputs, outputs, where its weights (I, O) begin in θ, and where its
bias does. Importing this module needs numba.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterbc.kernels import adam
from counterbc.kernels.numba_product import (
    Matrix,
    add_bias,
    add_bias_relu,
    mask_by,
    multiply,
    transpose,
)
from counterbc.kernels.numba_vector import LANES, f, inline, load, root_of, splat, store

KEEP_2, EPSILON = f(adam.BETA_2), f(adam.EPSILON)
NEW_1, NEW_2 = f(1 - adam.BETA_1), f(1 - adam.BETA_2)


class Chain(NamedTuple):
    """The layers of a network, and the memory of their units for the states of a batch."""

    table: Any  # (L, 4)
    places: Any  # (L + 2,): where the units of the input, of each layer and their end are
    units: Any
    back: Any
    """The gradients by the units."""


@inline
def make_chain(table: Any, rows: int) -> Any:
    """Return the layers of a table with memory for this many states."""
    places = np.zeros(len(table) + 2, np.int64)
    for i in range(len(table)):
        places[i + 1] = places[i] + rows * table[i, 0]
    places[-1] = places[-2] + rows * table[-1, 1]
    units = np.empty(places[-1], np.float32)
    return Chain(table, places, units, np.empty_like(units))


@inline
def forward(theta: Any, chain: Chain, rows: int) -> None:
    """Write the outputs of all layers to the units, whose first are the inputs: (rows, I)."""
    table, places, units, _ = chain
    for i in range(len(table)):
        inputs, outputs = table[i, 0], table[i, 1]
        x, out = Matrix(units, places[i], inputs, 1), Matrix(units, places[i + 1], outputs, 1)
        weight, bias = Matrix(theta, table[i, 2], outputs, 1), Matrix(theta, table[i, 3], 0, 1)
        sizes = (rows, outputs, inputs)
        if i < len(table) - 1:
            add_bias_relu(x, weight, out, bias, sizes)
        else:
            add_bias(x, weight, out, bias, sizes)


@inline
def add_gradients(x: Matrix, grad: Matrix, out: Any, place: Any, sizes: Any) -> None:
    """Write xᵀ grad and the sum of grad's rows to the places of weights and bias.

    `place` is where they begin and the distance between rows of weights, `sizes` the rows of x and
    grad, the columns of x, and the columns of grad to use.
    """
    ones = np.ones(1, np.float32)
    rows, inputs, outputs = sizes
    at_weight, at_bias, stride = place
    weight, bias = Matrix(out, at_weight, stride, 1), Matrix(out, at_bias, 0, 1)
    transposed = Matrix(x.data, x.begin, x.column, x.row)
    multiply(transposed, grad, weight, weight, (inputs, outputs, rows))
    multiply(Matrix(ones, 0, 0, 0), grad, bias, bias, (1, outputs, rows))


@inline
def backward(theta: Any, chain: Chain, rows: int, grads: Any, spare: Any, by_input: bool) -> None:
    """Write the gradients by all parameters, given that by the output: the last of `chain.back`.

    With `by_input` the gradient by the inputs is written to the first of `chain.back`.
    """
    table, places, units, back = chain
    for i in range(len(table) - 1, -1, -1):
        inputs, outputs = table[i, 0], table[i, 1]
        x, grad = Matrix(units, places[i], inputs, 1), Matrix(back, places[i + 1], outputs, 1)
        place = (table[i, 2], table[i, 3], outputs)
        add_gradients(x, grad, grads, place, (rows, inputs, outputs))
        if i > 0 or by_input:
            transpose(theta, table[i, 2], inputs, outputs, spare)
            weight, below = Matrix(spare, 0, inputs, 1), Matrix(back, places[i], inputs, 1)
            sizes = (rows, inputs, outputs)
            if i > 0:
                mask_by(grad, weight, below, x, sizes)
            else:
                multiply(grad, weight, below, below, sizes)


@inline
def update(p: Any, grad: Any, first: Any, second: Any, size: Any, root: Any) -> None:
    """Update as torch's fused Adam does; `size` is lr / (1 − β₁ᵗ), `root` is √(1 − β₂ᵗ)."""
    count, steps, scale, epsilon = len(p), splat(size), splat(f(1) / root), splat(EPSILON)
    new_1, new_2, keep_2 = splat(NEW_1), splat(NEW_2), splat(KEEP_2)
    for i in range(0, count, LANES):
        rest = count - i
        g, m, v = load(grad, i, rest), load(first, i, rest), load(second, i, rest)
        m = m + new_1 * (g - m)
        v = keep_2 * v + new_2 * g * g
        store(first, i, rest, m)
        store(second, i, rest, v)
        change = steps * m / (root_of(v) * scale + epsilon)
        store(p, i, rest, load(p, i, rest) - change)
