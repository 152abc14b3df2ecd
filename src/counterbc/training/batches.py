"""The pairs of each network at each step: epochs of shuffled pairs, cut into batches."""

from __future__ import annotations

import torch
from torch import Tensor

from counterbc.data import draws
from counterbc.kernels.cuda_order import draw_order, draws_order
from counterbc.training.networks import Networks


class Batches:
    """The position in its network's list and the epoch of every pair of every step.

    A network goes through its list once per epoch, in a new order each time; step t takes the next
    `batch` pairs of that stream. This is a function of t alone, so a stopped training resumes
    exactly.
    """

    def __init__(self, nets: Networks, batch: int) -> None:
        self.nets, self.batch = nets, batch
        self.device = nets.pairs.device
        self._last: tuple[Tensor, Tensor] | None = None  # epochs and their orders
        self._is_drawn = draws_order(nets.seeds, nets.pairs.shape[1])
        self._shortest = int(nets.lengths.min())

    def block(self, first: int, steps: int) -> tuple[Tensor, Tensor]:
        """Return positions and epochs of `steps` steps from step `first`: (steps, N, B) each."""
        if self._is_drawn:
            return draw_order(
                self.nets.seeds, self.nets.lengths, width=self.nets.pairs.shape[1],
                shortest=self._shortest, first=first, steps=steps, batch=self.batch,
            )  # fmt: skip
        n = self.nets.lengths[:, None]  # (N, 1)
        index = torch.arange(first * self.batch, (first + steps) * self.batch, device=self.device)
        epoch, offset = index // n, index % n  # (N, steps · B)
        start = epoch[:, :1]
        order = self._orders(start, int((epoch - start).max()) + 1)  # (N, E, n)
        flat = (epoch - start) * order.shape[-1] + offset
        position = order.flatten(1).gather(1, flat)
        return self._steps(position), self._steps(epoch)

    def _steps(self, stream: Tensor) -> Tensor:
        """Reshape (N, steps · B) to (steps, N, B)."""
        return stream.view(len(stream), -1, self.batch).transpose(0, 1).contiguous()

    def _orders(self, start: Tensor, epochs: int) -> Tensor:
        """Return the orders of `epochs` epochs from each network's `start`: (N, E, n)."""
        width = self.nets.pairs.shape[1]
        epoch = start + torch.arange(epochs, device=self.device)  # (N, E)
        if self._last is not None and torch.equal(self._last[0], epoch):
            return self._last[1]  # an epoch of large data takes many blocks
        self._last = None
        keys = draws.bits(self.nets.seeds[:, None], "order", epoch, width)  # (N, E, n)
        beyond = torch.arange(width, device=self.device) >= self.nets.lengths[:, None, None]
        order = keys.masked_fill_(beyond, torch.iinfo(torch.int64).max).argsort(-1)
        self._last = (epoch, order)
        return order
