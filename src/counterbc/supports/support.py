"""The base class of C(s, a), eq. M2: the actions a demonstrator could have meant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.data.feasible import Feasible
from counterbc.errors import OptionError


@dataclass(frozen=True)
class Support(ABC):
    """A set C(s, a) that places `count` counterfactuals per pair, uniform in C(s, a) ∩ A."""

    shrinks: ClassVar[bool] = False
    """Whether C(s, a) = {a} where Δ is 0 in every dimension."""
    count: int = 50

    def __post_init__(self) -> None:
        if self.count < 0:
            raise OptionError(f"count is {self.count}; give 0 counterfactuals or more")

    @abstractmethod
    def draws(self, action_size: int, feasible: Feasible) -> int:
        """Return how many uniform numbers one counterfactual takes."""

    @abstractmethod
    def counterfactuals(
        self, action: Tensor, radius: Tensor, u: Tensor, feasible: Feasible
    ) -> Tensor:
        """Return points of C(s, a) ∩ A: (B, count, A).

        Actions and radii are (B, 1, A); uniform numbers u are (B, count, draws).
        """

    def place(self, action: Tensor, radius: Tensor, u: Tensor, feasible: Feasible) -> Tensor:
        """Return the demonstrated action, then its counterfactuals: (B, 1 + count, A).

        Where C(s, a) and A do not intersect, all counterfactuals are the demonstrated action.
        """
        action, radius = action.unsqueeze(-2), radius.unsqueeze(-2)  # (B, 1, A)
        if self.count == 0:
            return action
        points = self.counterfactuals(action, radius, u, feasible)  # (B, M, A)
        return torch.cat([action, points], dim=-2)
