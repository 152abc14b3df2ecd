"""Where to train."""

from __future__ import annotations

import torch

from counterbc.errors import OptionError


def find_device(name: str | torch.device | None) -> torch.device:
    """The device of that name; by default a GPU where there is one."""
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
        raise OptionError(f"device {device} was asked for, but {count} are there; use cpu")
    return device
