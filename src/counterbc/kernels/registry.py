"""The kernels by name: where each lives, the device it runs on, and the library it needs.

This module imports nothing, so that settings, configurations and messages can read it.
"""

from __future__ import annotations

from typing import NamedTuple


class Library(NamedTuple):
    """A library of native kernels; its version changes the bits of a training."""

    name: str
    install: str
    """How to install it."""
    device: str
    """The kind of device that its kernels run on."""


class KernelHome(NamedTuple):
    """Where a kernel lives, and what it needs."""

    module: str
    kernel: str
    """The class in that module."""
    library: Library | None = None
    """None: torch alone."""
    by_name: bool = True
    """Whether users can ask for it; otherwise only auto chooses it."""


NUMBA = Library("numba", "pip install 'counterbc[fast]'", "cpu")
TRITON = Library("triton", "install a CUDA build of torch, which brings triton", "cuda")
LIBRARIES = (NUMBA, TRITON)

KERNELS = {
    "torch": KernelHome("torch_kernel", "TorchKernel"),
    "torch, numba loss": KernelHome("numba_loss", "NumbaLossKernel", NUMBA, by_name=False),
    "numba": KernelHome("numba_kernel", "NumbaKernel", NUMBA),
    "triton": KernelHome("triton_kernel", "TritonKernel", TRITON),
    "cuda": KernelHome("cuda_kernel", "CudaKernel"),
}
"""Every kernel; auto takes the last that fits and pays, and torch always does."""

KERNEL_NAMES = ("auto", *(name for name, home in KERNELS.items() if home.by_name))
"""What `Settings.kernel` may be."""
