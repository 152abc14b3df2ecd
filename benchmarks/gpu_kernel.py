"""Measure the kernels for GPUs alone, without the set-up of a training.

    python benchmarks/gpu_kernel.py [--out benchmarks/results/gpu-kernel.json]

Each time is of blocks of 100 steps with 400 pairs and batch 40. The sections of the result:

- "variants": microseconds of a step of all members by the CUDA kernel, by the threads of a network
  and the blocks that a multiprocessor must have room for; and by the Triton kernel;
- "phases": microseconds per model-step that each phase of the CUDA kernel takes, measured by doing
  it twice; in "all" there is nothing twice;
- "large": microseconds of a step with large batches, by the CUDA kernel and by torch.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.errors import InfeasibleActions
from counterbc.kernels import cuda_compiler, cuda_kernel
from counterbc.kernels.cuda_kernel import CudaKernel
from counterbc.kernels.packed_kernel import PackedKernel
from counterbc.kernels.torch_kernel import TorchKernel
from counterbc.methods import METHODS
from counterbc.settings import Settings
from counterbc.training.batches import Batches
from counterbc.training.network_stack import NetworkStack
from counterbc.training.plan import plan_training, seed_members
from counterbc.training.run import initial_params, plan_view

STEPS = 100
PHASES = {
    "all": "",
    "reading pairs": "read_states(data, net, set, now, begin, n, width, place.id);",
    "first layer": "first_layer(net, place);",
    "second layer": "second_layer(net, place);",
    "head and loss": "head_and_loss(data, net, set, losses, f, now, begin, team, place);",
    "gradient by head and second layer": "second_gradient(sums, net, place);",
    "gradient by first layer": "first_gradient(sums, net, place);",
    "Adam": "update_all(net, sums, m, v, size, scale, place);",
}
"""The line of `cuda_layers.cu` that is each phase."""
LARGE = (
    ("bc", 160, 50), ("bc", 256, 50), ("bc", 256, 1), ("bc", 1024, 1), ("bc", 1024, 50),
    ("counter-bc", 256, 10), ("bc-rnn", 256, 10), ("bc-rnn", 1024, 1),
)  # fmt: skip


class Population:
    """Members of a method on a GPU, whose steps any kernel can take."""

    def __init__(
        self, method: str, members: int, batch: int = 40, pairs: int = 400, *,
        device: str = "cuda", dtype: torch.dtype = torch.float32, **changes: Any,
    ) -> None:  # fmt: skip
        """`changes` are further fields of `Settings`."""
        settings = Settings(batch=batch, radius=0.4, **changes)
        demos = demonstrate("intersection", UniformNoise(0.5), pairs, 0)
        configured = settings.apply(METHODS[method])
        seeds = seed_members([demos], range(members), [[settings.radius]])
        plan = plan_training([demos], configured, settings, seeds)
        self.view = plan_view(plan, torch.device(device), dtype)
        self.view.fit()
        self.view.update_columns(None, configured.shards)
        self.case = self.view.case(batch, settings.products)
        params, rate = initial_params(plan, self.view, 0), settings.rate(configured.policy)
        self.stack = NetworkStack(self.view, params, rate, self.case, TorchKernel)
        self.block = Batches(self.view.nets, batch).block(0, STEPS)

    def make(self, kernel: type[TorchKernel]) -> TorchKernel:
        """Return a kernel for these members."""
        assert isinstance(self.stack.kernel, TorchKernel)
        return kernel(self.case, self.stack.kernel.tensors)

    def microseconds(self, kernel: TorchKernel, repeats: int = 3) -> float:
        """Return the shortest time of a step of all members."""
        kernel.run(*(x[:2] for x in self.block))  # compiles
        times = []
        for _ in range(repeats):
            torch.cuda.synchronize()
            start = time.perf_counter()
            kernel.run(*self.block)
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        return round(min(times) / STEPS * 1e6, 2)


def variants() -> Iterator[dict[str, Any]]:
    """Yield the rows of kernels and of their threads and blocks."""
    from counterbc.kernels.triton_kernel import TritonKernel

    layers = ((128, 2), (128, 3), (128, 4), (256, 1), (256, 2), (256, 3))
    choices = {"weighted-bc": ((128, 1), (256, 1)), "bc-rnn": ((128, 1), (256, 1))}
    for members, methods in ((2000, ("bc", "counter-bc")), (50, ("bc", "counter-bc", *choices))):
        for method in methods:
            population, row = Population(method, members), {"method": method, "members": members}
            for threads, blocks in choices.get(method, layers):
                with (
                    patch.object(cuda_kernel, "threads_of", lambda case, x=threads: x),
                    patch.object(cuda_kernel, "blocks_of", lambda case, x=blocks: x),
                ):
                    value = population.microseconds(population.make(CudaKernel))
                yield row | {"kernel": "cuda", "threads": threads, "blocks": blocks, "step": value}
            value = population.microseconds(population.make(TritonKernel))
            yield row | {"kernel": "triton", "step": value}


def phases(method: str) -> Iterator[dict[str, Any]]:
    """Yield the time of a model-step with each phase done twice."""
    population = Population(method, 2000)
    program = cuda_compiler.program
    for phase, line in PHASES.items():

        def twice(*parts: Any, line: str = line) -> str:
            text = program(*parts)
            assert not line or text.count(f" {line}\n") == 1
            return text.replace(line, f"{line} __syncthreads(); {line}") if line else text

        with patch.object(cuda_compiler, "program", twice):
            cuda_compiler.cuda_function.cache_clear()
            kernel = population.make(CudaKernel)
            value = kernel_seconds(population, kernel) / STEPS / len(population.stack.loss)
        yield {"method": method, "phase": phase, "microseconds": round(value * 1e6, 4)}
    cuda_compiler.cuda_function.cache_clear()


def kernel_seconds(population: Population, kernel: TorchKernel, repeats: int = 4) -> float:
    """Return the time that the GPU needs for a block, without packing; the second shortest."""
    assert isinstance(kernel, PackedKernel)
    kernel.run(*(x[:2] for x in population.block))
    times, launch = [], kernel.launch
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

        def timed(*parts: Any, begin: Any = begin, end: Any = end) -> None:
            begin.record()
            launch(*parts)
            end.record()

        with patch.object(kernel, "launch", timed):
            kernel.run(*population.block)
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return float(sorted(times)[1])


def large() -> Iterator[dict[str, Any]]:
    """Yield the times with large batches."""
    for method, batch, members in LARGE:
        population = Population(method, members, batch, 4000)
        kernels: dict[str, type[TorchKernel]] = {"cuda": CudaKernel, "torch": TorchKernel}
        times = {k: population.microseconds(population.make(v)) for k, v in kernels.items()}
        yield {"method": method, "batch": batch, "members": members} | times


def main() -> None:
    """Measure everything, and keep each row as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=Path("gpu-kernel.json"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    result: dict[str, Any] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    parts = {"phases": (phases("bc"), phases("counter-bc")), "variants": (variants(),),
             "large": (large(),)}  # fmt: skip
    for name, iterators in parts.items():
        result[name] = []
        for row in (row for rows in iterators for row in rows):
            result[name].append(row)
            print(json.dumps(row), flush=True)
            options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
