"""Training steps as one GPU kernel: a block of steps of one network per program.

It fits the paper's policy: two hidden layers with a Gaussian head and a weighting in closed form,
in float32. A program computes gather, forward, loss, backward and Adam of its network for a whole
block of steps, so that nothing waits for launches and activations never leave the chip. No two
programs write to the same memory, so the result does not depend on the number of programs.
Importing this module needs Triton, which comes with torch where there is CUDA.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch
import triton
import triton.language as tl
from torch import Tensor

from counterbc.kernels import adam
from counterbc.kernels.closed_form import layers, loss_misfit, step_misfit
from counterbc.kernels.step_kernel import StepCase, StepTensors
from counterbc.kernels.torch_kernel import TorchKernel
from counterbc.policies.gaussian import LOG_STD_RANGE, Gaussian

# On an H200, 16 states at a time by 4 warps in plain float32 were the fastest of a dozen choices;
# products by tensor cores (three TF32 ones for a float32 one) were slower and with 8 warps wrong.
_ROWS = 16
_WARPS = 4
_SIDE = 16  # the smallest side of a product
_WIDEST, _OUTPUTS = 64, 32  # units of a layer and of the head; more do not stay on the chip
_SAMPLES = 512  # nor do more counterfactuals
_BATCH, _MANY = 128, 64  # a program walks through its batch: a large one needs many programs

LOW, HIGH = tl.constexpr(LOG_STD_RANGE[0]), tl.constexpr(LOG_STD_RANGE[1])
HALF_LOG_2PI = tl.constexpr(0.5 * math.log(2 * math.pi))
KEEP_2, EPSILON = tl.constexpr(adam.BETA_2), tl.constexpr(adam.EPSILON)
NEW_1, NEW_2 = tl.constexpr(1 - adam.BETA_1), tl.constexpr(1 - adam.BETA_2)


@triton.jit
def product(a, b):
    return tl.dot(a, b, input_precision="ieee")


@triton.jit
def layer(x, weight, bias):
    h = product(x, weight) + bias[None, :]
    return tl.where(h <= 0, 0.0, h)  # NaN stays


@triton.jit
def pick(table, columns, number):
    """Return one column of a table: (B, O) → (B,)."""
    return tl.sum(tl.where(columns[None, :] == number, table, 0.0), 1)


@triton.jit
def gaussian(head, column, d: tl.constexpr, A: tl.constexpr):
    """Return μ, log σ before its clamp, log σ and 1/σ of dimension d: (B,) each."""
    mean = 1 - 2 / (tl.exp(2 * pick(head, column, d)) + 1)  # tanh
    raw = pick(head, column, A + d)
    log_std = tl.where(raw < LOW, LOW, tl.where(raw > HIGH, HIGH, raw))  # NaN stays
    return mean, raw, log_std, tl.exp(-log_std)


@triton.jit
def losses(
    head, actions, column, real,
    A: tl.constexpr, M: tl.constexpr, B: tl.constexpr, SAMPLES: tl.constexpr,
):  # fmt: skip
    """Return L (B,) and its gradient by the head (B, O), as `policies/fused.py` derives them.

    `actions` are pointers to the first dimension of C(s, a): (B, M). Dimensions are read twice
    rather than held.
    """
    log_pi = tl.zeros((B, SAMPLES), tl.float32) + tl.where(real, 0.0, float("-inf"))
    constant = tl.zeros((B,), tl.float32) + A * HALF_LOG_2PI
    for d in tl.static_range(A):
        mean, _, log_std, inverse = gaussian(head, column, d, A)
        z = (tl.load(actions + d * M, real, 0.0) - mean[:, None]) * inverse[:, None]  # (B, M)
        log_pi -= 0.5 * z * z
        constant += log_std
    top = tl.max(log_pi, 1)
    log_pi = log_pi - top[:, None]
    p = tl.exp(log_pi)
    p = p / tl.sum(p, 1)[:, None]
    log_pi = tl.where(real, log_pi, 0.0)
    average = tl.sum(p * log_pi, 1)
    slope = -p * (log_pi - average[:, None] + 1)
    all_slope = tl.sum(slope, 1)
    grad = tl.zeros_like(head)
    for d in tl.static_range(A):
        mean, raw, _, inverse = gaussian(head, column, d, A)
        z = (tl.load(actions + d * M, real, 0.0) - mean[:, None]) * inverse[:, None]
        by_mean = tl.sum(slope * z, 1) * inverse * (1 - mean * mean)
        by_log_std = tl.sum(slope * z * z, 1) - all_slope
        by_log_std = tl.where((raw < LOW) | (raw > HIGH), 0.0, by_log_std)
        grad = tl.where(column[None, :] == d, by_mean[:, None], grad)
        grad = tl.where(column[None, :] == A + d, by_log_std[:, None], grad)
    return constant - top - average, grad


@triton.jit
def update(memory, spread, at, live, grad, size, root):
    """Update as torch's fused Adam does; `size` is lr / (1 − β₁ᵗ), `root` is √(1 − β₂ᵗ)."""
    m = tl.load(memory + spread + at, live, 0.0)
    v = tl.load(memory + 2 * spread + at, live, 0.0)
    m = m + NEW_1 * (grad - m)
    v = KEEP_2 * v + NEW_2 * grad * grad
    p = tl.load(memory + at, live, 0.0) - size * m / (tl.sqrt(v) / root + EPSILON)
    tl.store(memory + at, p, live)
    tl.store(memory + spread + at, m, live)
    tl.store(memory + 2 * spread + at, v, live)


@triton.jit
def first_places(unit_0, unit_1, unit_2, S: tl.constexpr, H1: tl.constexpr, H2: tl.constexpr):
    """Return where the first layer and the weights of the second lie in a network's memory."""
    at_w1 = unit_0[:, None] * H1 + unit_1[None, :]
    at_w2 = (S + 1) * H1 + unit_1[:, None] * H2 + unit_2[None, :]
    return at_w1, S * H1 + unit_1, at_w2


@triton.jit
def last_places(
    unit_2, column, S: tl.constexpr, A: tl.constexpr, H1: tl.constexpr, H2: tl.constexpr
):
    """Return where the bias of the second layer and the head lie in a network's memory."""
    at_b2 = (S + 1 + H2) * H1 + unit_2
    at_w3 = (S + 1 + H2) * H1 + H2 + unit_2[:, None] * (2 * A) + column[None, :]
    return at_b2, at_w3, (S + 1 + H2) * H1 + H2 + H2 * 2 * A + column


@triton.jit(do_not_specialize=["steps", "networks", "width", "batch"])
def train_all(
    position, pairs, obs, actions, memory, sizes, roots, loss, steps, networks, width, batch,
    STORED: tl.constexpr, S: tl.constexpr, A: tl.constexpr, M: tl.constexpr, H1: tl.constexpr,
    H2: tl.constexpr, B: tl.constexpr, INPUTS: tl.constexpr, OUTPUTS: tl.constexpr,
    SAMPLES: tl.constexpr,
):  # fmt: skip
    """Take all steps of one network; INPUTS, OUTPUTS and SAMPLES are S, 2 A and M rounded up.

    `memory` holds weights (I, O) and bias of each layer in turn, then Adam's two moments of them.
    """
    n = tl.program_id(0).to(tl.int64)
    row, unit_0, unit_1 = tl.arange(0, B), tl.arange(0, INPUTS), tl.arange(0, H1)
    unit_2, column, sample = tl.arange(0, H2), tl.arange(0, OUTPUTS), tl.arange(0, SAMPLES)
    live_0, live_1, live_2 = unit_0 < S, unit_1 < H1, unit_2 < H2
    live_3, real = column < 2 * A, (sample < M)[None, :]
    at_w1, at_b1, at_w2 = first_places(unit_0, unit_1, unit_2, S=S, H1=H1, H2=H2)
    at_b2, at_w3, at_b3 = last_places(unit_2, column, S=S, A=A, H1=H1, H2=H2)
    size_of_one = (S + 1 + H2) * H1 + H2 + (H2 + 1) * 2 * A
    spread = networks * size_of_one
    memory += n * size_of_one
    pairs += n * width
    if STORED:
        actions += n * width * (A * M)
    for t in range(steps):
        by_w1, by_b1 = tl.zeros((INPUTS, H1), tl.float32), tl.zeros((H1,), tl.float32)
        by_w2, by_b2 = tl.zeros((H1, H2), tl.float32), tl.zeros((H2,), tl.float32)
        by_w3, by_b3 = tl.zeros((H2, OUTPUTS), tl.float32), tl.zeros((OUTPUTS,), tl.float32)
        total = 0.0
        for begin in range(0, batch, B):
            live = begin + row < batch
            place = tl.load(position + (t * networks + n) * batch + begin + row, live, 0)
            pair = tl.load(pairs + place)
            x = tl.load(obs + pair[:, None] * S + unit_0[None, :], live_0[None, :], 0.0)  # (B, I)
            offered = actions + (place if STORED else pair)[:, None] * (A * M) + sample[None, :]
            weight_1 = tl.load(memory + at_w1, live_0[:, None], 0.0)
            h1 = layer(x, weight_1, tl.load(memory + at_b1))  # (B, H1)
            weight_2 = tl.load(memory + at_w2)
            h2 = layer(h1, weight_2, tl.load(memory + at_b2))  # (B, H2)
            weight_3 = tl.load(memory + at_w3, live_3[None, :], 0.0)
            head = product(h2, weight_3) + tl.load(memory + at_b3, live_3, 0.0)[None, :]  # (B, O)
            loss_of, grad = losses(head, offered, column, real, A=A, M=M, B=B, SAMPLES=SAMPLES)
            total += tl.sum(tl.where(live, loss_of, 0.0), 0)
            grad = tl.where(live[:, None], grad / batch, 0.0)
            by_w3 += product(tl.trans(h2), grad)
            by_b3 += tl.sum(grad, 0)
            below = tl.where(h2 <= 0, 0.0, product(grad, tl.trans(weight_3)))
            by_w2 += product(tl.trans(h1), below)
            by_b2 += tl.sum(below, 0)
            below = tl.where(h1 <= 0, 0.0, product(below, tl.trans(weight_2)))
            by_w1 += product(tl.trans(x), below)
            by_b1 += tl.sum(below, 0)
        size, root = tl.load(sizes + t), tl.load(roots + t)
        update(memory, spread, at_w1, live_0[:, None], by_w1, size=size, root=root)
        update(memory, spread, at_b1, live_1, by_b1, size=size, root=root)
        update(memory, spread, at_w2, live_1[:, None], by_w2, size=size, root=root)
        update(memory, spread, at_b2, live_2, by_b2, size=size, root=root)
        update(memory, spread, at_w3, live_3[None, :], by_w3, size=size, root=root)
        update(memory, spread, at_b3, live_3, by_b3, size=size, root=root)
        tl.store(loss + n, total / batch)
        tl.debug_barrier()  # the next step reads what this one wrote


class TritonKernel(TorchKernel):
    """A kernel that trains a copy of the parameters and copies it back after each block."""

    name: ClassVar[str] = "triton"

    @classmethod
    def misfit(cls, case: StepCase) -> str | None:
        reason = loss_misfit(case, "cuda") or step_misfit(case)
        if reason is not None:
            return reason
        hidden, outputs = case.policy.hidden, 2 * case.action_size
        if not isinstance(case.policy, Gaussian) or len(hidden) != 2:
            return "it supports only Gaussian policies with two hidden layers"
        if max(case.obs_size, *hidden) > _WIDEST or outputs > _OUTPUTS or case.samples > _SAMPLES:
            return (
                f"it supports at most {_WIDEST} observation dimensions, {_WIDEST} units per layer, "
                f"{_OUTPUTS // 2} action dimensions and {_SAMPLES} actions per pair"
            )
        if any(width != _round_up(width) for width in hidden):
            return f"it supports layers of {_SIDE}, 32 or {_WIDEST} units, not {hidden}"
        return None

    @classmethod
    def pays(cls, case: StepCase) -> bool:
        """Return whether this is faster than a graph of torch's steps, as measured on an H200."""
        return case.batch <= _BATCH or case.networks >= _MANY

    def __init__(self, case: StepCase, tensors: StepTensors) -> None:
        super().__init__(case, tensors)
        stored = tensors.counterfactuals
        actions = tensors.action.unsqueeze(-1) if stored is None else stored  # (rows, A, M)
        self.data = [x.contiguous() for x in (tensors.pairs, tensors.obs, actions)]
        params = [tensors.policy_params[name] for name in layers(case)]
        self.state = [
            [x.detach().view(len(x), -1) for x in part] for part in tensors.adam.of(params)
        ]
        size, count = actions.shape[1:]
        self.sizes: dict[str, Any] = {
            "STORED": stored is not None, "S": case.obs_size, "A": size, "M": count,
            "H1": case.policy.hidden[0], "H2": case.policy.hidden[1], "B": _ROWS,
            "INPUTS": _round_up(case.obs_size), "OUTPUTS": _round_up(2 * size),
            "SAMPLES": triton.next_power_of_2(count),
        }  # fmt: skip

    def run(self, position: Tensor, epoch: Tensor) -> None:
        steps, networks, batch = position.shape
        pairs, obs, actions = self.data
        optimizer = self.tensors.adam
        steps_taken = optimizer.count.double() + torch.arange(1, steps + 1, device=obs.device)
        memory = torch.stack([torch.cat(part, 1) for part in self.state])  # (3, N, all)
        train_all[(networks,)](
            position=position, pairs=pairs, obs=obs, actions=actions, memory=memory,
            sizes=(optimizer.learning_rate / (1 - adam.BETA_1**steps_taken)).float(),
            roots=(1 - adam.BETA_2**steps_taken).sqrt().float(),
            loss=self.tensors.loss,
            steps=steps, networks=networks, width=pairs.shape[1], batch=batch,
            **self.sizes, num_warps=_WARPS,
        )  # fmt: skip
        for part, after in zip(self.state, memory, strict=True):
            for value, new in zip(part, after.split([v.shape[1] for v in part], 1), strict=True):
                value.copy_(new)
        optimizer.count.add_(steps)


def _round_up(size: int) -> int:
    return max(_SIDE, int(triton.next_power_of_2(size)))
