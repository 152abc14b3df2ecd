"""The networks of the members in training: index lists and seeds."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from counterbc.acting.member import Member
from counterbc.data import draws
from counterbc.errors import DataError


@dataclass(frozen=True)
class Networks:
    """Index lists and seeds of N = members × shards networks, the shards of a member in a row."""

    pairs: Tensor  # (N, n): indices into the store; only the first lengths[i] of row i count
    lengths: Tensor  # (N,)
    seeds: Tensor  # (N,)
    members: Tensor  # (N,): which member each network belongs to

    def some(self, index: Tensor) -> Networks:
        """Return some of the networks."""
        return Networks(
            self.pairs[index], self.lengths[index], self.seeds[index], self.members[index]
        )

    def to(self, device: torch.device) -> Networks:
        return Networks(
            *(x.to(device) for x in (self.pairs, self.lengths, self.seeds, self.members))
        )


def networks(
    members: list[Member], lists: list[Tensor], shards: int, disjoint: bool = True
) -> Networks:
    """Return the networks; disjoint shards of a member get its pairs shuffled and dealt."""
    rows: list[Tensor] = []
    for member, pairs in zip(members, lists, strict=True):
        if disjoint and len(pairs) < shards:
            raise DataError(
                f"this method divides its pairs among {shards} networks, but there are "
                f"{len(pairs)}; give more pairs, or choose another method"
            )
        if shards > 1 and disjoint:
            seed, index = torch.tensor(member.seed), torch.arange(len(pairs))
            pairs = pairs[draws.bits(seed, "parts", index, 1).squeeze(-1).argsort(stable=True)]
        rows += [pairs[k::shards] if disjoint else pairs for k in range(shards)]
    lengths = torch.tensor([len(r) for r in rows])
    matrix = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    owners = torch.arange(len(members)).repeat_interleave(shards)
    every = torch.tensor([m.seed for m in members])[:, None]
    seeds = draws.bits(every, "network", torch.arange(shards), 1)  # (members, shards, 1)
    return Networks(matrix, lengths, seeds.flatten(), owners)
