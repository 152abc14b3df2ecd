"""How torch multiplies matrices of float32 numbers on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import torch

from counterbc.errors import OptionError

PRODUCTS = ("float32", "tf32")
"""What `Settings.products` may be."""


@contextmanager
def multiplying(products: str) -> Iterator[None]:
    """Multiply matrices on a GPU in this way, whatever torch is set to."""
    cuda = torch.backends.cuda.matmul
    before, name = cuda.fp32_precision, _precision_name()
    cuda.allow_tf32 = products == "tf32"  # the older of torch's two switches also sets the newer
    try:
        yield
    finally:
        cuda.allow_tf32 = before == "tf32"
        cuda.fp32_precision = before
        if name == "medium":  # which the older switch turned into "high"
            torch.set_float32_matmul_precision(name)


def _precision_name() -> str | None:
    """Return torch's setting of all devices; None where each device has its own."""
    with suppress(RuntimeError):
        return torch.get_float32_matmul_precision()
    return None


def check_products(products: str, device: str, dtype: torch.dtype) -> None:
    """Refuse products that a device does not have."""
    if products != "float32" and (device != "cuda" or dtype != torch.float32):
        kind = f"{str(dtype).removeprefix('torch.')} on {device}"
        raise OptionError(
            f"products is {products!r}, but this training is of {kind}; only GPUs multiply so, and "
            "only float32: leave products out"
        )
