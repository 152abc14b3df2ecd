"""Mean pooling of large feature maps, so that dense layers stay small on large images."""

from __future__ import annotations

from math import sqrt

import torch
from torch import Tensor

PLACES = 144
"""Places of a feature map that a dense layer reads at most: those of an image of 128×128 pixels."""


def pooled_size(height: int, width: int) -> tuple[int, int]:
    """Return the height and width of a feature map after pooling; small maps keep theirs.

    The aspect is kept as far as whole numbers allow.
    """
    if height * width <= PLACES:
        return height, width
    rows = min(max(1, round(height * sqrt(PLACES / (height * width)))), PLACES)
    return rows, min(width, PLACES // rows)


def mean_matrix(
    size: int, bins: int, dtype: torch.dtype = torch.float32, device: torch.device | None = None
) -> Tensor:
    """Return the matrix (bins, size) that averages `size` numbers in equal windows.

    Window i reaches from ⌊i · size / bins⌋ to ⌈(i + 1) · size / bins⌉, as in torch's adaptive
    pooling. Windows overlap where `bins` does not divide `size`.
    """
    i, n = (torch.arange(count, device=device) for count in (bins, size))
    start = (i * size // bins).unsqueeze(-1)
    end = (((i + 1) * size + bins - 1) // bins).unsqueeze(-1)
    inside = (n >= start) & (n < end)
    return inside.to(dtype) / (end - start)


def pool(x: Tensor) -> Tensor:
    """Average a large feature map in windows: (…, h, w, O) → (…, r, c, O); return a small one as it
    is.

    A product of matrices, unlike torch's pooling, has a gradient that repeats to the bit on a GPU.
    """
    height, width = x.shape[-3:-1]
    rows, columns = pooled_size(height, width)
    if (rows, columns) == (height, width):
        return x
    by_row = mean_matrix(height, rows, x.dtype, x.device) @ x.flatten(-2)  # (…, r, w · O)
    by_row = by_row.unflatten(-1, (width, -1))  # (…, r, w, O)
    out: Tensor = mean_matrix(width, columns, x.dtype, x.device) @ by_row
    return out
