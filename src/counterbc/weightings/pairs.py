"""The pairs as a weighting sees them before a round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from counterbc.data import draws

_POSITIVE = (1 << 63) - 1


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of one network in the policy's units, or of N networks with N in front of each.

    A column is gathered on access, e.g. `pairs["action"]`. These columns always exist:

        state (n, S)    action (n, A)    log_volume (n,): log of the volume of A

    These exist if the weighting needs them:

        operators   operator (n,): the operator's number
        rewards     to_go (n,): the reward from the pair to the end of its episode
                    time (n,): its step as a share of the longest episode
        expert      expert (n,): 1 in the mask of that name, else 0

    And where actions are censored:

        side (n, A): 1 on the upper bound, −1 on the lower one, else 0
        low, high (n, A): the bounds
    """

    table: Mapping[str, Tensor]  # (T, …) each, for all pairs of the run
    index: Tensor  # (n,): the row of each pair in the table
    count: Tensor  # (): how many of the n are pairs; the rest is padding
    seed: Tensor  # ()
    previous: Tensor | None = None
    """log π(a|s) by the shards of the previous round, (n, shards); None in the first round."""

    radius: Tensor | None = None
    """Δ of each action dimension, (A,); None if unknown."""

    def __getitem__(self, name: str) -> Tensor:
        return self.table[name][self.index]

    @property
    def real(self) -> Tensor:
        """Return which of the n are pairs and not padding: (n,) bool."""
        return torch.arange(self.index.shape[-1], device=self.index.device) < self.count[..., None]

    def mean(self, values: Tensor) -> Tensor:
        """Return the mean of numbers (n,) over the pairs: ()."""
        return (values * self.real).sum(-1) / self.count

    def at(self, position: Tensor) -> Pairs:
        """Return the pairs at positions (B,)."""
        count = torch.full_like(self.count, position.shape[-1])
        return replace(self, index=self.index.gather(-1, position), count=count, previous=None)

    def draw(self, purpose: str, step: int, size: int) -> Pairs:
        """Return a random batch, with replacement: a function of (seed, purpose, step)."""
        at = torch.tensor(step, device=self.seed.device)
        bits = draws.bits(self.seed, purpose, at, size) & _POSITIVE  # (B,)
        return self.at(bits % self.count[..., None])

    def network(self, i: int) -> Pairs:
        """Return the pairs of one of N networks."""
        previous = None if self.previous is None else self.previous[i]
        radius = None if self.radius is None else self.radius[i]
        return Pairs(self.table, self.index[i], self.count[i], self.seed[i], previous, radius)
