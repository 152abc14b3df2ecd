"""Runs the CUDA sources on a CPU: a C++ compiler translates them, and threads of the CPU stand for
those of a GPU.

This checks what the sources compute, barriers and shuffles included, where there is no GPU. Shared
memory begins as NaN, so that numbers which nobody wrote are noticed.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

from counterbc.kernels.cuda_compiler import program

COMPILER = shutil.which("g++")
_BEFORE = """
#include <barrier>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>
struct float4 { float x, y, z, w; };
struct float2 { float x, y; };
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static float2 make_float2(float x, float y) { return {x, y}; }
struct Index { int x; };
static thread_local Index threadIdx, blockIdx;
static std::unique_ptr<std::barrier<>> block_barrier, warp_barriers[32];
static float lanes[32][32];
alignas(16) static float shared[SHARED_NUMBERS];
static void __syncthreads() { block_barrier->arrive_and_wait(); }
static void __syncwarp() { warp_barriers[threadIdx.x / 32]->arrive_and_wait(); }
static float __shfl_xor_sync(unsigned, float x, int k) {
    float* warp = lanes[threadIdx.x / 32];
    warp[threadIdx.x % 32] = x;
    __syncwarp();
    const float y = warp[(threadIdx.x % 32) ^ k];
    __syncwarp();
    return y;
}
static float __fdividef(float x, float y) { return x / y; }
static float __int_as_float(int x) { float y; memcpy(&y, &x, 4); return y; }
#define __expf expf
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
"""
_AFTER = """
extern "C" void run(int blocks, int threads, void** a, int steps, int networks, int width) {
    for (int block = 0; block < blocks; block++) {
        block_barrier = std::make_unique<std::barrier<>>(threads);
        for (int w = 0; w < threads / 32; w++)
            warp_barriers[w] = std::make_unique<std::barrier<>>(32);
        for (float& x : shared) x = NAN;
        std::vector<std::thread> all;
        for (int t = 0; t < threads; t++)
            all.emplace_back([=] {
                threadIdx.x = t, blockIdx.x = block;
                FUNCTION((index_t*)a[0], (index_t*)a[1], (float*)a[2], (float*)a[3], (COLUMN*)a[4],
                         (float*)a[5], (float*)a[6], (float*)a[7], (float*)a[8], steps, networks,
                         width);
            });
        for (std::thread& thread : all) thread.join();
    }
}
"""
_ROOT = 'asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));'
_SHARED = "extern __shared__ __align__(16) float shared[];"


class FunctionOnCpu:
    """Stands for `CudaFunction`, with tensors on the CPU."""

    def __init__(self, text: str, name: str, threads: int, shared_size: int, folder: Path) -> None:
        self.threads = threads
        for part, other in ((_ROOT, "y = sqrtf(x);"), (_SHARED, "")):
            assert text.count(part) == 1
            text = text.replace(part, other)
        column = "index_t" if name == "train_gru" else "float"
        before = _BEFORE.replace("SHARED_NUMBERS", str(shared_size // 4))
        after = _AFTER.replace("FUNCTION", name).replace("COLUMN", column)
        source, library = folder / "step.cpp", folder / "step.so"
        source.write_text(before + text + after)
        assert COMPILER is not None
        options = ["-std=c++20", "-O1", "-w", "-shared", "-fPIC", "-pthread"]
        subprocess.run([COMPILER, *options, source, "-o", library], check=True)
        self.library = ctypes.CDLL(str(library))

    def __call__(self, blocks: int, arguments: Sequence[Tensor | int]) -> None:
        tensors = [x for x in arguments if isinstance(x, Tensor)]
        assert all(x.is_contiguous() for x in tensors)
        pointers = (ctypes.c_void_p * len(tensors))(*(x.data_ptr() for x in tensors))
        self.library.run(blocks, self.threads, pointers, *arguments[len(tensors) :])


def function_on_cpu(
    folder: Path, sources: tuple[str, ...], name: str, macros: tuple[tuple[str, str], ...],
    threads: int, shared_size: int,
) -> FunctionOnCpu:  # fmt: skip
    """Return a function as `cuda_function` does; the folder is for its code."""
    return FunctionOnCpu(program(sources, macros), name, threads, shared_size, folder)
