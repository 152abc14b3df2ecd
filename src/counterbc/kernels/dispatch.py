"""The one place that chooses the kernel of a training."""

from __future__ import annotations

from importlib import import_module

from counterbc.errors import OptionError
from counterbc.kernels.closed_form import native_misfit
from counterbc.kernels.products import check_products
from counterbc.kernels.registry import KERNELS
from counterbc.kernels.step_kernel import StepCase, StepKernel


def choose_kernel(name: str, case: StepCase) -> type[StepKernel]:
    """Return the kernel asked for; for auto, the last of `KERNELS` that fits and pays."""
    check_products(case.products, case.device, case.dtype)
    if name == "auto":
        kernels = (_find(key, case) for key in reversed(KERNELS))
        return next(k for k in kernels if not isinstance(k, str) and k.pays(case))
    kernel = _find(name, case)
    if isinstance(kernel, str):
        raise OptionError(
            f"kernel is {name!r}, but {kernel}; use the kernel torch, which trains everything, or "
            "auto"
        )
    return kernel


def _find(name: str, case: StepCase) -> type[StepKernel] | str:
    """Return a kernel, or why it does not fit; its library is imported only if it may."""
    home = KERNELS[name]
    reason = home.library and native_misfit(case, home.library.device)
    if reason is not None:
        return reason
    try:
        module = import_module(f"counterbc.kernels.{home.module}")
    except (ImportError, OSError) as error:
        if home.library is None:
            raise
        if isinstance(error, ModuleNotFoundError):
            return f"{home.library.name} is not installed ({home.library.install})"
        return f"{home.library.name} is installed but cannot be imported ({error})"
    kernel: type[StepKernel] = getattr(module, home.kernel)
    return kernel.misfit(case) or kernel
