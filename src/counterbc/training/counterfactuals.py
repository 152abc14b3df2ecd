"""The actions of C(s, a) for each batch: kept in memory where they fit, else computed again."""

from __future__ import annotations

import torch
from torch import Tensor

from counterbc import draws
from counterbc.feasible import Feasible
from counterbc.supports import Support
from counterbc.training.networks import Networks

_ROWS = 1 << 22  # uniform numbers per chunk while filling the memory
_EPOCH = 1 << 40  # above any position in a list


class Counterfactuals:
    """C(s, a) of every pair of every network, as a function of (network's seed, position)."""

    def __init__(
        self,
        support: Support,
        feasible: Feasible,
        nets: Networks,
        action: Tensor,
        radius: Tensor,
        resample: bool = False,
        memory: float = 2.0,
    ) -> None:
        """`action` (N, n, A) and `radius` (N, A) are in the policy's units."""
        self.support, self.feasible, self.nets = support, feasible, nets
        self.action, self.radius, self.resample = action, radius, resample
        self.numbers = support.draws(action.shape[-1], feasible)
        size = action.numel() * action.element_size() * (1 + support.count)
        keep = support.count > 0 and not resample and size <= memory * 2**30
        self.kept = self._keep() if keep else None  # (N · n, A, M): samples last is faster

    def at(self, position: Tensor, epoch: Tensor) -> Tensor:
        """The actions of C(s, a) at positions (N, B) of each list: (N, B, M, A)."""
        rows = torch.arange(len(position), device=position.device).unsqueeze(1)
        if self.kept is not None:
            flat = rows * self.action.shape[1] + position
            return self.kept[flat].transpose(-1, -2)
        return self._place(rows, position, epoch)

    def _place(self, rows: Tensor, position: Tensor, epoch: Tensor) -> Tensor:
        action = self.action[rows, position]  # (N, B, A)
        if self.support.count == 0:
            return action.unsqueeze(-2)
        index = position + epoch * _EPOCH if self.resample else position
        count = self.support.count * self.numbers
        u = draws.uniform(self.nets.seeds[rows], "counterfactuals", index, count)
        u = u.unflatten(-1, (self.support.count, self.numbers)).to(action.dtype)  # (N, B, M, D)
        placed = self.support.place(
            action.flatten(0, 1), self.radius[rows].expand_as(action).flatten(0, 1),
            u.flatten(0, 1), self.feasible,
        )  # fmt: skip
        return placed.view(*action.shape[:2], *placed.shape[1:])

    def _keep(self) -> Tensor:
        nets, pairs, size = self.action.shape
        kept = self.action.new_empty(nets, pairs, size, 1 + self.support.count)
        chunk = max(1, _ROWS // max(1, self.support.count * self.numbers))
        rows = torch.arange(nets, device=kept.device).unsqueeze(1)
        for begin in range(0, nets * pairs, chunk):
            flat = torch.arange(begin, min(begin + chunk, nets * pairs), device=kept.device)
            row, position = (flat // pairs).unsqueeze(1), (flat % pairs).unsqueeze(1)
            placed = self._place(rows[row.squeeze(1)], position, torch.zeros_like(position))
            kept.view(nets * pairs, size, -1)[flat] = placed.squeeze(1).transpose(-1, -2)
        return kept.view(nets * pairs, size, -1)
