"""Steps of the common case as native code: one network after the other, each while it is in cache.

For ReLU layers with the head of a Gaussian or a mixture and a weighting in closed form, in float32
on the CPU: gather, forward, loss, backward and Adam of one network for a whole block of steps. A
network is computed by one thread from beginning to end, so the result does not depend on their
number. Anything else is trained by torch, which `NetworkStack.step` does and this must agree with.
Importing needs numba.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, prange
from torch import Tensor

from counterbc.kernels import adam
from counterbc.kernels.numba_gaussian import FAST, ONE, ZERO, f, states, threads
from counterbc.kernels.numba_mixture import mixture_losses
from counterbc.policies.gaussian import LOG_STD_RANGE
from counterbc.policies.mixture import Mixture
from counterbc.policies.policy import Policy
from counterbc.training.network_stack import View

LOW, HIGH = f(LOG_STD_RANGE[0]), f(LOG_STD_RANGE[1])
BETA_1, BETA_2, EPSILON = adam.BETA_1, adam.BETA_2, f(adam.EPSILON)
KEEP_2, NEW_1, NEW_2 = f(BETA_2), f(1 - BETA_1), f(1 - BETA_2)
_PRODUCT = 200_000  # multiplications per product; beyond 262144 OpenBLAS starts its own threads
_FEWEST = 8  # rows per product; wider layers are left to torch, which is good at them


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def matrix(memory: Any, begin: int, rows: int, width: int) -> Any:
    return memory[begin : begin + rows * width].reshape(rows, width)


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def forward(x: Any, weight: Any, bias: Any, out: Any, relu: bool) -> None:
    np.dot(x, weight, out)
    for b in range(out.shape[0]):
        for j in range(out.shape[1]):
            h = out[b, j] + bias[j]
            out[b, j] = ZERO if relu and h <= ZERO else h  # NaN stays


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def losses(head: Any, grad: Any, actions: Any, rows: Any) -> np.float32:
    """Σ L over a block of states; `head` (B, 2 A) before tanh and clamp, `grad` by it."""
    size = actions.shape[1]
    loss, shards = np.empty(len(head), np.float32), np.empty((4, len(head), size), np.float32)
    mean, log_std, by_mean, by_log_std = shards[0], shards[1], shards[2], shards[3]
    for b in range(len(head)):
        for d in range(size):
            mean[b, d] = math.tanh(head[b, d])
            raw = head[b, size + d]
            log_std[b, d] = LOW if raw < LOW else HIGH if raw > HIGH else raw  # NaN stays
    states(mean, log_std, actions, rows, loss, by_mean, by_log_std)
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
    """Add xᵀ grad and the sum of grad's rows; the first block overwrites what was there."""
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
    """torch's fused Adam; `size` is lr / (1 − β₁ᵗ), `root` is √(1 − β₂ᵗ)."""
    for i in range(len(p)):
        g = grad[i]
        first[i] += NEW_1 * (g - first[i])
        second[i] = KEEP_2 * second[i] + NEW_2 * g * g
        p[i] -= size * first[i] / (math.sqrt(second[i]) / root + EPSILON)


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def gather(n: int, places: Any, pairs: Any, obs: Any, kept: bool, rows: Any, x: Any) -> None:
    """What network n sees in a block, into x, and which rows hold its actions, into rows."""
    for b in range(len(places)):
        pair = pairs[n, places[b]]
        rows[b] = n * pairs.shape[1] + places[b] if kept else pair
        for j in range(x.shape[1]):
            x[b, j] = obs[pair, j]


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def where_active(x: Any, grad: Any) -> None:
    """Of a layer's gradient, the part that ReLU let through."""
    for b in range(x.shape[0]):
        for j in range(x.shape[1]):
            grad[b, j] = ZERO if x[b, j] <= ZERO else grad[b, j]


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def train_one(
    n: int, position: Any, pairs: Any, obs: Any, actions: Any, kept: bool,
    params: Any, firsts: Any, seconds: Any, rate: float, count: int, block: int, modes: int,
) -> np.float32:  # fmt: skip
    """All steps of network n; `params` are its weights (N, I, O) and biases (N, 1, O) in turn.

    `modes` is 0 for a Gaussian.
    """
    steps, _, batch = position.shape
    layers, inputs = len(params) // 2, obs.shape[1]
    widths = np.empty(layers + 1, np.int64)
    widths[0] = inputs
    begins, largest = np.zeros(len(params) + 1, np.int64), 0  # of each gradient
    for k in range(len(params)):
        size = params[k].shape[1] * params[k].shape[2]
        begins[k + 1], largest = begins[k] + size, max(largest, size)
        widths[k // 2 + 1] = params[k].shape[2]
    at = np.zeros(layers + 2, np.int64)  # of each layer's units
    for i in range(layers + 1):
        at[i + 1] = at[i] + block * widths[i]
    units, back = np.empty(at[-1], np.float32), np.empty(at[-1], np.float32)
    grads, spare = np.empty(begins[-1], np.float32), np.empty(largest, np.float32)
    rows = np.empty(block, np.int64)
    total = ZERO
    for t in range(steps):
        total = ZERO
        for begin in range(0, batch, block):
            size = min(block, batch - begin)
            x = matrix(units, 0, size, inputs)
            gather(n, position[t, n, begin : begin + size], pairs, obs, kept, rows, x)
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
        done = count + t + 1
        size_step, root = f(rate / (1 - BETA_1**done)), f(math.sqrt(1 - BETA_2**done))
        for k in range(len(params)):
            update(
                params[k][n].reshape(-1), grads[begins[k] : begins[k + 1]],
                firsts[k][n].reshape(-1), seconds[k][n].reshape(-1), size_step, root,
            )  # fmt: skip
    return total / f(batch)


@njit(parallel=True, cache=True, fastmath=FAST, error_model="numpy")
def train_all(
    position: Any, pairs: Any, obs: Any, actions: Any, kept: bool,
    params: Any, firsts: Any, seconds: Any, rate: float, count: int, block: int, modes: int,
    loss: Any,
) -> None:  # fmt: skip
    for n in prange(len(pairs)):
        loss[n] = train_one(
            n, position, pairs, obs, actions, kept, params, firsts, seconds, rate, count, block,
            modes,
        )  # fmt: skip


class NativeSteps:
    """Trains in the memory of the population's own tensors."""

    def __init__(
        self, view: View, params: list[Tensor], optimizer: adam.Adam, loss: Tensor
    ) -> None:
        held = view.counterfactuals.kept
        actions = view.store.action.unsqueeze(-1) if held is None else held
        self.data = [x.contiguous().numpy() for x in (view.nets.pairs, view.store.obs, actions)]
        self.kept, self.adam, self.loss = held is not None, optimizer, loss.numpy()
        order = [next(k for k, own in enumerate(optimizer.params) if own is p) for p in params]
        self.learned = [
            tuple(own[k].detach().view(len(loss), -1, own[k].shape[-1]).numpy() for k in order)
            for own in (optimizer.params, optimizer.first, optimizer.second)
        ]
        self.rows = most_rows(params)
        policy = view.method.policy
        self.modes = policy.modes if isinstance(policy, Mixture) else 0

    @staticmethod
    def fits(policy: Policy, chain: list[Tensor]) -> bool:
        """Whether the layers with these weights and biases are small enough to gain."""
        return most_rows(chain) >= _FEWEST

    def pays(self, position: Tensor) -> bool:
        return True

    def run(self, position: Tensor) -> None:
        """Steps on the pairs at these positions: (steps, N, B)."""
        batch = position.shape[2]
        block = math.ceil(batch / math.ceil(batch / self.rows))  # equal ones
        given: tuple[Any, ...] = (
            position.numpy(), *self.data, self.kept, *self.learned, self.adam.learning_rate,
            int(self.adam.count), block, self.modes, self.loss,
        )  # fmt: skip
        with threads():
            train_all(*given)
        self.adam.count.add_(len(position))


def most_rows(params: list[Tensor]) -> int:
    """How many states one product may hold."""
    return _PRODUCT // max((p[0].numel() for p in params), default=_PRODUCT)
