"""The pairs of a run, once in memory and scaled, and what a step gathers from them by index."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from counterbc.demonstrations import Demonstrations
from counterbc.normalization import Normalization


@dataclass(frozen=True, eq=False)
class Store:
    """All pairs of all datasets, one after the other, in the policy's units."""

    obs: Tensor  # (T, S)
    action: Tensor  # (T, A)
    starts: Tensor  # (T,): the first pair of each pair's episode

    @staticmethod
    def of(
        datasets: list[tuple[Demonstrations, Normalization]], dtype: torch.dtype, project: bool
    ) -> tuple[Store, list[int]]:
        """The store, and where each dataset begins in it; `project` brings actions into A."""
        obs, action, starts, begins, total = [], [], [], [], 0
        for data, scales in datasets:
            own = scales.map(lambda x: x.to(dtype))
            begins.append(total)
            obs.append(own.obs(torch.tensor(data.obs, dtype=dtype)[None])[0])
            shown = torch.tensor(data.action, dtype=dtype)[None]
            action.append(own.action(own.project(shown) if project else shown)[0])
            starts.append(torch.tensor(data.starts) + total)
            total += len(starts[-1])
        return Store(torch.cat(obs), torch.cat(action), torch.cat(starts)), begins

    def to(self, device: torch.device) -> Store:
        return Store(self.obs.to(device), self.action.to(device), self.starts.to(device))

    def windows(self, pairs: Tensor, history: int) -> Tensor:
        """What a policy reads at pairs (N, B): (N, B, S), or (N, B, history, S).

        A window never crosses its episode's start; before it, it holds zeros.
        """
        if history == 1:
            return self.obs[pairs]
        back = torch.arange(history - 1, -1, -1, device=pairs.device)
        index = pairs.unsqueeze(-1) - back  # (N, B, history)
        inside = index >= self.starts[pairs].unsqueeze(-1)
        return self.obs[index.clamp(min=0)] * inside.unsqueeze(-1)
