"""The pairs of a block of steps, ordered by one CUDA function in place of torch's sort."""

from __future__ import annotations

import torch
from torch import Tensor

from counterbc.data import draws
from counterbc.kernels.cuda_compiler import CudaFunction, compiler_misfit, cuda_function

_THREADS = 128
_WIDEST = 8 * _THREADS  # a place is counted among all pairs: long lists are sorted faster by torch
_INT = 1 << 31  # numbers that an int counts


def draws_order(seeds: Tensor, width: int) -> bool:
    """Return whether lists of up to `width` pairs are ordered here."""
    return seeds.is_cuda and width <= _WIDEST and compiler_misfit(seeds.device.index) is None


def draw_order(
    seeds: Tensor, lengths: Tensor, *, width: int, shortest: int, first: int, steps: int, batch: int
) -> tuple[Tensor, Tensor]:
    """Return positions and epochs of `steps` steps from step `first`: (steps, N, B) each.

    The seeds and lengths of the lists are (N,) each, `width` and `shortest` are the longest and the
    shortest length.
    """
    begin, total = first * batch, steps * batch
    assert total < _INT
    epochs = (total - 1) // shortest + 2  # one more where they begin within an epoch
    start, offset = begin // lengths, begin % lengths  # (N,)
    epoch = start.unsqueeze(1) + torch.arange(epochs, device=seeds.device)  # (N, E)
    row = draws.row_keys(seeds.unsqueeze(1), "order", epoch).contiguous()
    position, epoch_of = (row.new_empty(steps, len(seeds), batch) for _ in range(2))
    order_function(width, seeds.device.index)(
        row.numel(),
        (row, start, offset, lengths, position, epoch_of, epochs, len(seeds), batch, total),
    )
    return position, epoch_of


def order_function(width: int, device: int) -> CudaFunction:
    """Return the function for lists of up to `width` pairs, compiled for few different widths."""
    share = 1 << (-(-width // _THREADS) - 1).bit_length()
    macros = (("THREADS", str(_THREADS)), ("WIDTH", str(share * _THREADS)))
    return cuda_function(("cuda_order.cu",), "draw_order", macros, _THREADS, 0, device)
