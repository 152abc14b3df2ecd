"""The one place that chooses the kernel of a training."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from counterbc.errors import KERNEL_INSTALLS, OptionError
from counterbc.kernels.closed_form import loss_misfit
from counterbc.kernels.step_kernel import StepCase, StepKernel
from counterbc.kernels.torch_kernel import TorchKernel


class _Native(NamedTuple):
    """Where a native kernel lives, and what it needs."""

    module: str
    kernel: str
    device: str
    library: str


_NATIVE = {  # in the order in which auto tries them
    "triton": _Native("triton_kernel", "TritonKernel", "cuda", "triton"),
    "numba": _Native("numba_kernel", "NumbaKernel", "cpu", "numba"),
    "torch, numba loss": _Native("numba_loss", "NumbaLossKernel", "cpu", "numba"),
}


def choose_kernel(asked: str, case: StepCase) -> type[StepKernel]:
    """Return the kernel asked for; for auto, the first that fits and pays, else plain torch."""
    if asked == "torch":
        return TorchKernel
    if asked != "auto":
        kernel = _find(asked, case)
        if isinstance(kernel, str):
            raise OptionError(
                f"kernel is {asked!r}, but {kernel}; use the kernel torch, which trains everything,"
                " or auto"
            )
        return kernel
    for name in _NATIVE:
        kernel = _find(name, case)
        if not isinstance(kernel, str) and kernel.pays(case):
            return kernel
    return TorchKernel


def _find(name: str, case: StepCase) -> type[StepKernel] | str:
    """Return a native kernel, or why it does not fit; its library is imported only if it may."""
    home = _NATIVE[name]
    reason = loss_misfit(case, home.device)
    if reason is not None:
        return reason
    try:
        module = import_module(f"counterbc.kernels.{home.module}")
    except ImportError:
        return f"{home.library} is not installed ({KERNEL_INSTALLS[home.library]})"
    kernel: type[StepKernel] = getattr(module, home.kernel)
    return kernel.misfit(case) or kernel
