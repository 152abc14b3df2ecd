"""Training steps as native code on the CPU: one network after the other, each while it is in cache.

It fits ReLU layers with the head of a Gaussian or a mixture and a weighting in closed form, in
float32. It computes gather, forward, loss, backward and Adam of one network for a whole block of
steps. One thread computes all of a network, so the result does not depend on the number of threads.
Importing this module needs numba.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import njit, prange
from torch import Tensor

from counterbc.kernels import adam
from counterbc.kernels.closed_form import layer_shapes, layers, loss_misfit, step_misfit
from counterbc.kernels.numba_gaussian import (
    FAST,
    ONE,
    ZERO,
    Gaussians,
    cached_njit,
    f,
    states,
    threads,
)
from counterbc.kernels.numba_loss import NumbaLossKernel
from counterbc.kernels.numba_mixture import mixture_losses
from counterbc.kernels.step_kernel import StepCase, StepTensors
from counterbc.policies.gaussian import LOG_STD_RANGE

LOW, HIGH = f(LOG_STD_RANGE[0]), f(LOG_STD_RANGE[1])
BETA_1, BETA_2, EPSILON = adam.BETA_1, adam.BETA_2, f(adam.EPSILON)
KEEP_2, NEW_1, NEW_2 = f(BETA_2), f(1 - BETA_1), f(1 - BETA_2)
_PRODUCT = 200_000  # multiplications per product; beyond 262144 OpenBLAS starts its own threads
_FEWEST = 8  # rows per product; wider layers are left to torch, which is good at them


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def matrix(memory: Any, begin: int, rows: int, width: int) -> Any:
    """Return a part of flat memory as a matrix."""
    return memory[begin : begin + rows * width].reshape(rows, width)


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def forward(x: Any, weight: Any, bias: Any, out: Any, relu: bool) -> None:
    """Write x W + b to out, with ReLU if asked for."""
    np.dot(x, weight, out)
    for b in range(out.shape[0]):
        for j in range(out.shape[1]):
            h = out[b, j] + bias[j]
            out[b, j] = ZERO if relu and h <= ZERO else h  # NaN stays


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def losses(head: Any, grad: Any, actions: Any, rows: Any) -> np.float32:
    """Return Σ L over a block of states and write its gradient by the head.

    `head` (B, 2 A) is what the last layer returns, before tanh and clamp.
    """
    size = actions.shape[1]
    loss, values = np.empty(len(head), np.float32), np.empty((4, len(head), size), np.float32)
    mean, log_std, by_mean, by_log_std = values[0], values[1], values[2], values[3]
    for b in range(len(head)):
        for d in range(size):
            mean[b, d] = math.tanh(head[b, d])
            raw = head[b, size + d]
            log_std[b, d] = LOW if raw < LOW else HIGH if raw > HIGH else raw  # NaN stays
    states(Gaussians(mean, log_std, by_mean, by_log_std), actions, rows, loss)
    total = ZERO
    for b in range(len(head)):
        total += loss[b]
        for d in range(size):
            grad[b, d] = by_mean[b, d] * (ONE - mean[b, d] * mean[b, d])
            raw = head[b, size + d]
            grad[b, size + d] = ZERO if raw < LOW or raw > HIGH else by_log_std[b, d]
    return total


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def add_product(x: Any, grad: Any, by_weight: Any, by_bias: Any, spare: Any, first: bool) -> None:
    """Add xᵀ grad and the sum of grad's rows; the first block overwrites."""
    if first:
        by_bias[:] = ZERO
        np.dot(x.T, grad, by_weight)
    else:
        np.dot(x.T, grad, spare)
        by_weight += spare
    for b in range(grad.shape[0]):
        for j in range(grad.shape[1]):
            by_bias[j] += grad[b, j]


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def update(p: Any, grad: Any, first: Any, second: Any, size: Any, root: Any) -> None:
    """Update as torch's fused Adam does; `size` is lr / (1 − β₁ᵗ), `root` is √(1 − β₂ᵗ)."""
    for i in range(len(p)):
        g = grad[i]
        first[i] += NEW_1 * (g - first[i])
        second[i] = KEEP_2 * second[i] + NEW_2 * g * g
        p[i] -= size * first[i] / (math.sqrt(second[i]) / root + EPSILON)


class Data(NamedTuple):
    """The pairs that the networks learn from in a block of steps."""

    position: Any  # (steps, N, B): places in the rows of `pairs`
    pairs: Any  # (N, n): rows of `obs`
    obs: Any  # (T, S)
    actions: Any  # (N · n, A, M) where counterfactuals are kept, else (T, A, 1)
    stored: bool
    """Whether counterfactuals are kept in memory."""


class BlockOptions(NamedTuple):
    """The numbers that a block of steps depends on."""

    rate: float
    """Learning rate of Adam."""
    first_step: int
    """The number of the first step, from 1."""
    block: int
    """States per product."""
    modes: int
    """Modes of a mixture; 0 for a Gaussian."""


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def gather(n: int, places: Any, data: Data, rows: Any, x: Any) -> None:
    """Write the observations of network n in a block to x, and the rows of its actions to rows."""
    pairs, obs = data.pairs, data.obs
    for b in range(len(places)):
        pair = pairs[n, places[b]]
        rows[b] = n * pairs.shape[1] + places[b] if data.stored else pair
        for j in range(x.shape[1]):
            x[b, j] = obs[pair, j]


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def where_active(x: Any, grad: Any) -> None:
    """Set the gradient to 0 where ReLU was 0."""
    for b in range(x.shape[0]):
        for j in range(x.shape[1]):
            grad[b, j] = ZERO if x[b, j] <= ZERO else grad[b, j]


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def layout(params: Any, inputs: int, block: int) -> Any:
    """Return the layers' widths, where each gradient begins, and where each layer's units do."""
    layers = len(params) // 2
    widths, at = np.empty(layers + 1, np.int64), np.zeros(layers + 2, np.int64)
    begins = np.zeros(len(params) + 1, np.int64)
    widths[0] = inputs
    for k in range(len(params)):
        begins[k + 1] = begins[k] + params[k].shape[1] * params[k].shape[2]
        widths[k // 2 + 1] = params[k].shape[2]
    for i in range(layers + 1):
        at[i + 1] = at[i] + block * widths[i]
    return widths, begins, at


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def train_one(
    n: int, data: Data, params: Any, firsts: Any, seconds: Any, options: BlockOptions
) -> np.float32:
    """Take all steps of network n; `params` are weights (N, I, O) and biases (N, 1, O) in turn."""
    steps, _, batch = data.position.shape
    actions, block, modes = data.actions, options.block, options.modes
    layers, inputs = len(params) // 2, data.obs.shape[1]
    widths, begins, at = layout(params, inputs, block)
    largest = (begins[1:] - begins[:-1]).max()
    units, back = np.empty(at[-1], np.float32), np.empty(at[-1], np.float32)
    grads, spare = np.empty(begins[-1], np.float32), np.empty(largest, np.float32)
    rows = np.empty(block, np.int64)
    total = ZERO
    for t in range(steps):
        total = ZERO
        for begin in range(0, batch, block):
            size = min(block, batch - begin)
            x = matrix(units, 0, size, inputs)
            gather(n, data.position[t, n, begin : begin + size], data, rows, x)
            for i in range(layers):
                out = matrix(units, at[i + 1], size, widths[i + 1])
                forward(x, params[2 * i][n], params[2 * i + 1][n, 0], out, i < layers - 1)
                x = out
            grad = matrix(back, at[layers], size, widths[layers])
            if modes > 0:
                total += mixture_losses(x, grad, actions, rows[:size], modes)
            else:
                total += losses(x, grad, actions, rows[:size])
            for i in range(layers - 1, -1, -1):
                x = matrix(units, at[i], size, widths[i])
                middle = begins[2 * i + 1]
                by_weight = matrix(grads, begins[2 * i], widths[i], widths[i + 1])
                by_bias = grads[middle : begins[2 * i + 2]]
                product = matrix(spare, 0, widths[i], widths[i + 1])
                add_product(x, grad, by_weight, by_bias, product, begin == 0)
                if i > 0:
                    below = matrix(back, at[i], size, widths[i])
                    np.dot(grad, params[2 * i][n].T, below)
                    where_active(x, below)
                    grad = below
        grads /= f(batch)
        step = options.first_step + t
        size_step, root = f(options.rate / (1 - BETA_1**step)), f(math.sqrt(1 - BETA_2**step))
        for k in range(len(params)):
            update(
                params[k][n].reshape(-1), grads[begins[k] : begins[k + 1]],
                firsts[k][n].reshape(-1), seconds[k][n].reshape(-1), size_step, root,
            )  # fmt: skip
    return total / f(batch)


@cached_njit(parallel=True, fastmath=FAST, error_model="numpy")
def train_all(
    position: Any, pairs: Any, obs: Any, actions: Any, stored: bool,
    params: Any, firsts: Any, seconds: Any,
    rate: float, first_step: int, block: int, modes: int, loss: Any,
) -> None:  # fmt: skip
    """Take all steps of all networks; named tuples as arguments would cost a millisecond a call."""
    for n in prange(len(loss)):
        data = Data(position, pairs, obs, actions, stored)
        options = BlockOptions(rate, first_step, block, modes)
        loss[n] = train_one(n, data, params, firsts, seconds, options)


class NumbaKernel(NumbaLossKernel):
    """Native steps that write to the tensors of the networks."""

    name: ClassVar[str] = "numba"

    @classmethod
    def misfit(cls, case: StepCase) -> str | None:
        reason = loss_misfit(case, "cpu") or step_misfit(case)
        if reason is None and most_rows(layer_shapes(case)) < _FEWEST:
            return f"a layer of {case.policy.hidden} units is too wide for it to be fast"
        return reason

    def __init__(self, case: StepCase, tensors: StepTensors) -> None:
        super().__init__(case, tensors)
        stored = tensors.counterfactuals
        actions = tensors.action.unsqueeze(-1) if stored is None else stored
        self.data = [x.contiguous().numpy() for x in (tensors.pairs, tensors.obs, actions)]
        self.stored = stored is not None
        params = [tensors.policy_params[name] for name in layers(case)]
        self.state = [
            tuple(x.detach().view(len(x), -1, x.shape[-1]).numpy() for x in part)
            for part in tensors.adam.of(params)
        ]
        self.rows = most_rows(layer_shapes(case))

    def run(self, position: Tensor, epoch: Tensor) -> None:
        batch, optimizer, policy = position.shape[2], self.tensors.adam, self.case.policy
        pairs, obs, actions = self.data
        params, firsts, seconds = self.state
        with threads():
            train_all(
                position=position.numpy(),
                pairs=pairs,
                obs=obs,
                actions=actions,
                stored=self.stored,
                params=params,
                firsts=firsts,
                seconds=seconds,
                rate=optimizer.learning_rate,
                first_step=int(optimizer.count) + 1,
                block=math.ceil(batch / math.ceil(batch / self.rows)),  # equal ones
                modes=policy.modes,
                loss=self.tensors.loss.numpy(),
            )
        optimizer.count.add_(len(position))


def most_rows(shapes: Sequence[tuple[int, ...]]) -> int:
    """Return how many states one product may hold, given the shapes of weights and biases."""
    return _PRODUCT // max(math.prod(shape) for shape in shapes)
