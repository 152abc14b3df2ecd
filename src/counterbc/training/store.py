"""The pairs of a run, once in memory, and what a step gathers from them by index."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from counterbc.demonstrations import Demonstrations
from counterbc.normalization import Normalization


@dataclass(frozen=True, eq=False)
class Store:
    """All pairs of all datasets, one after the other, in the user's units."""

    obs: Tensor  # (T, S)
    action: Tensor  # (T, A)
    starts: Tensor  # (T,): the first pair of each pair's episode

    @staticmethod
    def of(datasets: list[Demonstrations], dtype: torch.dtype) -> tuple[Store, list[int]]:
        """The store, and where each dataset begins in it."""
        obs, action, starts, begins, total = [], [], [], [], 0
        for data in datasets:
            begins.append(total)
            obs.append(torch.tensor(data.obs, dtype=dtype))
            action.append(torch.tensor(data.action, dtype=dtype))
            starts.append(torch.tensor(data.starts) + total)
            total += len(action[-1])
        return Store(torch.cat(obs), torch.cat(action), torch.cat(starts)), begins

    def to(self, device: torch.device) -> Store:
        return Store(self.obs.to(device), self.action.to(device), self.starts.to(device))

    def windows(self, pairs: Tensor, history: int, scales: Normalization) -> Tensor:
        """What a policy reads at pairs (N, B): (N, B, S), or (N, B, history, S).

        A window never crosses its episode's start; before it, it holds zeros.
        """
        if history == 1:
            return scales.obs(self.obs[pairs])
        back = torch.arange(history - 1, -1, -1, device=pairs.device)
        index = pairs.unsqueeze(-1) - back  # (N, B, history)
        inside = index >= self.starts[pairs].unsqueeze(-1)
        obs = scales.obs(self.obs[index.clamp(min=0)])
        return obs * inside.unsqueeze(-1)
