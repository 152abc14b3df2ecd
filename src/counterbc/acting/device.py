"""The device to compute on."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch

from counterbc.errors import OptionError


def find_device(name: str | torch.device | None) -> torch.device:
    """Return the device of that name; by default a GPU if there is one."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise OptionError(f"unknown device {str(name)!r}; allowed: cpu, cuda, cuda:1, …") from None
    if device.type not in ("cpu", "cuda"):
        raise OptionError(f"device {device.type} is not supported; allowed: cpu, cuda")
    count = torch.cuda.device_count()
    if device.type == "cuda" and (device.index or 0) >= count:
        raise OptionError(f"device {device} was asked for, but there are {count} GPUs; use cpu")
    return device


def enter_device(device: torch.device) -> AbstractContextManager[None]:
    """Return a context in which a device is the current one; the CPU needs none.

    Tensors know their GPU, but native kernels, streams and graphs take the current one.
    """
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()
