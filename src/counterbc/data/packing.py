"""Rows of bytes (`obs_rows.py`) as tensors: pixels first, then the numbers of a vector."""

from __future__ import annotations

import torch
from torch import Tensor


def pack(pixels: Tensor, vector: Tensor) -> Tensor:
    """Return rows of bytes from pixels (…, P) and numbers (…, S)."""
    return torch.cat([pixels, vector.contiguous().view(torch.uint8)], -1)


def unpack(rows: Tensor, pixels: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return the pixels (…, P) and the numbers (…, S) of rows of bytes."""
    numbers = rows[..., pixels:].clone(memory_format=torch.contiguous_format)  # starts at 0
    return rows[..., :pixels], numbers.view(dtype)
