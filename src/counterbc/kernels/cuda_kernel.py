"""Training steps as one CUDA function: a block of steps of one network per block of threads.

It fits the paper's policies in their default size: two hidden layers of 64 units, or a GRU and a
layer of 64, with a Gaussian head, in float32. All sums are of float32 numbers in a fixed order, and
no two blocks write to the same memory, so the bits do not depend on the number of networks. What
does not fit here, such as other widths, is left to Triton.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.kernels import adam
from counterbc.kernels.closed_form import native_misfit, step_misfit, weights_misfit
from counterbc.kernels.cuda_compiler import CudaFunction, compiler_misfit, cuda_function
from counterbc.kernels.packed_kernel import PackedKernel, weighting_layers
from counterbc.kernels.step_kernel import StepCase
from counterbc.policies.fused import HALF_LOG_2PI
from counterbc.policies.gaussian import LOG_STD_RANGE, Gaussian

UNITS = 64
_ACTIONS, _OBSERVED, _SAMPLES = 4, 64, 128  # more do not stay in registers and shared memory
_ON_CHIP = 227 * 1024  # bytes of shared memory that a block of an H200 may have
_WHOLE = 64  # pairs of a batch of which a softmax is taken
_BATCH, _GRU_BATCH, _MANY = 512, 200, 64  # a block walks through its batch: large ones need many
_FORMS = {"cross entropy": "PLAIN", "column": "GIVEN", "batch softmax": "GIVEN",
          "state network": "STATES"}  # fmt: skip
"""How the function computes each kind of `StepForm`."""
_SOURCES = {
    "layers": ("cuda_parts.cu", "cuda_head.cu", "cuda_layers.cu"),
    "gru": ("cuda_parts.cu", "cuda_head.cu", "cuda_gru_forward.cu", "cuda_gru.cu"),
}
"""The files of each function, in the order in which they need each other."""


class CudaKernel(PackedKernel):
    """A kernel in CUDA C++, compiled for the sizes of a training."""

    name: ClassVar[str] = "cuda"

    @classmethod
    def misfit(cls, case: StepCase) -> str | None:
        reason = native_misfit(case, "cuda") or step_misfit(case, recurrent=True)
        reason = reason or weights_misfit(case, _FORMS)
        if reason is not None:
            return reason
        network, recurrent = weighting_layers(case), bool(case.policy.recurrent())
        widths = (*case.policy.hidden, *network[:-1])
        if not isinstance(case.policy, Gaussian) or len(case.policy.hidden) != 2:
            return "it supports only Gaussian policies with two hidden layers"
        if set(widths) != {UNITS} or len(network) not in (0, 3):
            return f"it supports only two layers of {UNITS} units, not {widths}"
        if network and (recurrent or case.batch > _WHOLE):
            return f"it weighs states only in batches of up to {_WHOLE}, and not beside a GRU"
        sizes = (case.action_size, case.obs_size, case.samples)
        if any(x > y for x, y in zip(sizes, (_ACTIONS, _OBSERVED, _SAMPLES), strict=True)):
            return (
                f"it supports at most {_OBSERVED} observation dimensions, {_ACTIONS} action "
                f"dimensions and {_SAMPLES} actions per pair"
            )
        if not torch.cuda.is_available():
            return "there is no CUDA device"
        device = torch.cuda.current_device()
        properties = torch.cuda.get_device_properties(device)
        if properties.major < 7:
            return "it needs a GPU of compute capability 7.0 or later"
        if shared_bytes(case) > getattr(properties, "shared_memory_per_block_optin", 0):
            return "the GPU has too little shared memory for this case"
        return compiler_misfit(device)

    @classmethod
    def pays(cls, case: StepCase) -> bool:
        """Return whether this is faster than a graph of torch's steps, as measured on an H200."""
        limit = _GRU_BATCH if case.policy.recurrent() else _BATCH
        return case.batch <= limit or case.networks >= _MANY

    @cached_property
    def function(self) -> CudaFunction:
        case, recurrent = self.case, bool(self.case.policy.recurrent())
        numbers = {
            "LOW": LOG_STD_RANGE[0], "HIGH": LOG_STD_RANGE[1], "HALF_LOG_2PI": HALF_LOG_2PI,
            "NEW_1": 1 - adam.BETA_1, "NEW_2": 1 - adam.BETA_2, "KEEP_2": adam.BETA_2,
            "EPSILON": adam.EPSILON,
        }  # fmt: skip
        sizes = {
            "S": case.obs_size, "A": case.action_size, "M": self.data["actions"].shape[2],
            "STORED": int(self.tensors.counterfactuals is not None), "BATCH": case.batch,
            "ROWS": rows_of(case), "TEAM": threads_of(case), "T": case.policy.history,
            "BLOCKS": blocks_of(case), "PLAIN": 0, "GIVEN": 1, "STATES": 2,
            "FORM": _FORMS[self.kind],
        }  # fmt: skip
        macros = {name: f"{value!r}f" for name, value in numbers.items()}
        macros |= {name: str(value) for name, value in sizes.items()}
        name = "gru" if recurrent else "layers"
        threads = threads_of(case) * (2 if _FORMS[self.kind] == "STATES" else 1)
        return cuda_function(
            _SOURCES[name], f"train_{name}", tuple(macros.items()), threads,
            shared_bytes(case), self.tensors.obs.device.index,
        )  # fmt: skip

    def launch(self, position: Tensor, memory: Tensor, sizes: Tensor, roots: Tensor) -> None:
        column = self.tensors.obs  # not read
        if self.case.policy.recurrent():
            column = self.tensors.starts.contiguous()
        elif _FORMS[self.kind] == "GIVEN":
            column = self.given_weights(position)
        steps, networks, _ = position.shape
        self.function(
            networks,
            (
                position.contiguous(), *self.data.values(), column, memory, sizes, roots,
                self.tensors.loss, steps, networks, self.tensors.pairs.shape[1],
            ),
        )  # fmt: skip


def threads_of(case: StepCase) -> int:
    """Return the threads of a network, and twice as many for the larger products of a GRU."""
    return 256 if case.policy.recurrent() else 128


def blocks_of(case: StepCase) -> int:
    """Return how many blocks a multiprocessor must have registers for."""
    return 1 if case.policy.recurrent() or weighting_layers(case) else 3


def rows_of(case: StepCase) -> int:
    """Return how many rows of a batch are computed at a time: a multiple of 8.

    Many inputs of a GRU leave less shared memory for rows.
    """
    if weighting_layers(case):
        return -(-case.batch // 8) * 8
    limit = next((x for x in (40, 32, 24, 16) if shared_bytes(case, x) <= _ON_CHIP), 8)
    tiles = -(-case.batch // limit)
    return -(-case.batch // (8 * tiles)) * 8


def shared_bytes(case: StepCase, rows: int | None = None) -> int:
    """Return the shared memory of a block, as `Network` in the sources lays it out."""
    rows = rows_of(case) if rows is None else rows
    inputs, outputs = case.obs_size + 1, 2 * case.action_size
    state, tile, matrix = _round_up(inputs), rows * (UNITS + 8), UNITS * (UNITS + 4)
    head, by_head = UNITS + (UNITS + 1) * outputs, _round_up(rows * outputs)
    if case.policy.recurrent():
        steps, small = case.policy.history, _round_up(3 * UNITS * (inputs + 1) + head)
        numbers = 3 * small + 4 * matrix + steps * rows * state + (steps + 5) * tile
        return 4 * (numbers + by_head + 2 * rows)
    small, teams = _round_up(UNITS * inputs + head), 2 if weighting_layers(case) else 1
    numbers = 3 * small + matrix + rows * state + 4 * tile + by_head
    return 4 * (teams * numbers + (2 + teams) * rows + 4)


def _round_up(size: int) -> int:
    """Return the next multiple of 4, since vectors of four numbers are read at once."""
    return -(-size // 4) * 4
