"""The actions of C(s, a) for each batch: kept in memory if they fit, else computed at each step."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from counterbc.data import draws
from counterbc.data.feasible import Feasible
from counterbc.supports import Support
from counterbc.training.networks import Networks

_NUMBERS = 1 << 22  # uniform numbers per chunk while the table is filled
_CACHED = 1 << 18  # and while they are computed for a step
EPOCH = 1 << 40
"""The first index of an epoch's random numbers is a multiple of it, above any position."""


class Counterfactuals:
    """C(s, a) of every pair of every network, as a function of the network's seed and position."""

    def __init__(
        self,
        support: Support,
        feasible: Feasible,
        nets: Networks,
        action: Tensor,
        radius: Tensor,
        *,
        memory: float,
        resample: bool = False,
        horizon: int = 1,
    ) -> None:
        """`action` (T, H · A) of all pairs and `radius` (N, H · A) are in the policy's units.

        C(s, a) of `horizon` actions is the product of the sets of each.
        """
        self.support, self.feasible, self.nets = support, feasible, nets
        self.action, self.radius, self.resample = action, radius, resample
        self.memory = memory
        self.horizon, size = horizon, action.shape[1] // horizon
        self.numbers = horizon * support.draws(size, feasible)
        self.rows = torch.arange(len(radius), device=radius.device).unsqueeze(1)
        numbers = nets.pairs.numel() * action.shape[1] * (1 + support.count)
        fits = numbers * action.element_size() <= memory * 2**30
        self.in_memory = support.count > 0 and not resample and fits

    @cached_property
    def table(self) -> Tensor | None:
        """The actions of all pairs where they are kept, (N · n, A, M): samples last is faster."""
        return self._fill() if self.in_memory else None

    def some(self, index: Tensor, support: Support) -> Counterfactuals:
        """Return C(s, a) of some of the networks, by this support, in their share of memory."""
        memory = self.memory * len(index) / len(self.radius)
        return Counterfactuals(
            support, self.feasible, self.nets.some(index), self.action, self.radius[index],
            memory=memory, resample=self.resample, horizon=self.horizon,
        )  # fmt: skip

    def at(self, pairs: Tensor, position: Tensor, epoch: Tensor) -> Tensor:
        """Return the actions of C(s, a) at pairs (N, B) and their positions: (N, B, M, A)."""
        if self.table is None:
            return self._compute(pairs, position, epoch)
        flat = self.rows * self.nets.pairs.shape[1] + position
        actions = self.table.index_select(0, flat.flatten())
        return actions.view(*position.shape, *actions.shape[1:]).transpose(-1, -2)

    def _compute(self, pairs: Tensor, position: Tensor, epoch: Tensor) -> Tensor:
        """Compute (N, B, M, A); on a CPU some networks at a time, since its caches are small."""
        numbers = pairs.shape[1] * self.support.count * self.numbers  # of one network
        chunk = max(1, _CACHED // max(numbers, 1)) if pairs.device.type == "cpu" else len(pairs)
        parts = [
            self._place(*(x[i : i + chunk] for x in (self.rows, pairs, position, epoch)))
            for i in range(0, len(pairs), chunk)
        ]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _place(self, rows: Tensor, pairs: Tensor, position: Tensor, epoch: Tensor) -> Tensor:
        action = self.action[pairs]  # (N, B, A)
        if self.support.count == 0:
            return action.unsqueeze(-2)
        index = position + epoch * EPOCH if self.resample else position
        count = self.support.count * self.numbers
        u = draws.uniform(self.nets.seeds[rows], "counterfactuals", index, count)
        u = u.unflatten(-1, (self.support.count, self.horizon, -1)).to(action.dtype)
        points = self.support.place(
            self._by_step(action), self._by_step(self.radius[rows].expand_as(action)),
            u.transpose(2, 3).flatten(0, 2), self.feasible,
        )  # fmt: skip
        by_step = points.view(*action.shape[:2], self.horizon, *points.shape[1:])
        return by_step.transpose(2, 3).flatten(-2)  # (N, B, M, H · A)

    def _by_step(self, action: Tensor) -> Tensor:
        """Return the actions (N, B, H · A) one by one: (N · B · H, A)."""
        steps: Tensor = action.unflatten(-1, (self.horizon, -1))
        return steps.flatten(0, 2)

    def _fill(self) -> Tensor:
        nets, pairs = self.nets.pairs.shape
        size = self.action.shape[1]
        table = self.action.new_empty(nets * pairs, size, 1 + self.support.count)
        chunk = max(1, _NUMBERS // (self.support.count * self.numbers))
        for begin in range(0, nets * pairs, chunk):
            flat = torch.arange(begin, min(begin + chunk, nets * pairs), device=table.device)
            row, position = (flat // pairs).unsqueeze(1), (flat % pairs).unsqueeze(1)
            pair = self.nets.pairs[row, position]
            points = self._place(row, pair, position, torch.zeros_like(position))
            table[begin : begin + chunk] = points.squeeze(1).transpose(-1, -2)
        return table
