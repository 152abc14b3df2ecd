"""The order of pairs by CUDA, whose sources a CPU can run; `gpu_checks` runs them on a GPU."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from counterbc.acting.member import Member
from counterbc.kernels import cuda_order
from counterbc.kernels.cuda_compiler import program
from counterbc.kernels.cuda_order import draw_order, draws_order
from counterbc.training.batches import Batches
from counterbc.training.networks import networks
from tests.kernels.cuda_on_cpu import COMPILER

_BEFORE = """
#include <barrier>
#include <memory>
#include <thread>
#include <vector>
struct Index { int x; };
static thread_local Index threadIdx, blockIdx;
static std::unique_ptr<std::barrier<>> barrier;
static void __syncthreads() { barrier->arrive_and_wait(); }
#define __device__
#define __global__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
"""
_AFTER = """
extern "C" void run(int blocks, void** a, int epochs, int networks, int batch, int total) {
    index_t** x = (index_t**)a;
    for (int block = 0; block < blocks; block++) {
        barrier = std::make_unique<std::barrier<>>(THREADS);
        std::vector<std::thread> all;
        for (int t = 0; t < THREADS; t++)
            all.emplace_back([=] {
                threadIdx.x = t, blockIdx.x = block;
                draw_order(x[0], x[1], x[2], x[3], x[4], x[5], epochs, networks, batch, total);
                barrier->arrive_and_drop();
            });
        for (std::thread& thread : all) thread.join();
    }
}
"""


def compile_for_cpu(
    folder: Path, sources: tuple[str, ...], name: str, macros: tuple[tuple[str, str], ...], *_: Any
) -> Callable[[int, Sequence[Tensor | int]], None]:
    """Return the function by threads of a CPU."""
    source, library = folder / "order.cpp", folder / "order.so"
    source.write_text(_BEFORE + program(sources, macros) + _AFTER)
    assert COMPILER is not None
    options = ["-std=c++20", "-O1", "-w", "-shared", "-fPIC", "-pthread"]
    subprocess.run([COMPILER, *options, source, "-o", library], check=True)
    run = ctypes.CDLL(str(library)).run

    def start(blocks: int, arguments: Sequence[Tensor | int]) -> None:
        tensors = [x for x in arguments if isinstance(x, Tensor)]
        assert all(x.is_contiguous() and x.dtype == torch.int64 for x in tensors)
        run(blocks, (ctypes.c_void_p * len(tensors))(*(x.data_ptr() for x in tensors)),
            *arguments[len(tensors) :])  # fmt: skip

    return start


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
@pytest.mark.parametrize(
    ("lengths", "batch", "first", "steps"),
    [((40, 7, 128), 5, 3, 9), ((300, 300), 40, 11, 4), ((130, 9), 1, 0, 1)],
)
def test_the_sources_draw_what_torch_sorts_when_a_cpu_runs_them(
    lengths: tuple[int, ...], batch: int, first: int, steps: int, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(cuda_order, "cuda_function", partial(compile_for_cpu, tmp_path))
    members = [Member(seed, (0.0,)) for seed in range(len(lengths))]
    nets = networks(members, [torch.arange(n) for n in lengths], shards=1)
    block = draw_order(
        nets.seeds, nets.lengths, width=max(lengths), shortest=min(lengths), first=first,
        steps=steps, batch=batch,
    )  # fmt: skip
    for actual, reference in zip(block, Batches(nets, batch).block(first, steps), strict=True):
        assert torch.equal(actual, reference)


def test_torch_sorts_on_a_cpu() -> None:
    assert not draws_order(torch.zeros(3, dtype=torch.int64), 10)


def test_few_different_widths_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    macros_of: list[dict[str, str]] = []
    monkeypatch.setattr(
        cuda_order,
        "cuda_function",
        lambda sources, name, macros, *_: macros_of.append(dict(macros)),
    )
    for width in (1, 128, 129, 400, 600, 1024):
        cuda_order.order_function(width, 0)
    assert [x["WIDTH"] for x in macros_of] == ["128", "128", "256", "512", "1024", "1024"]
