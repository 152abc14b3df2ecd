"""The demonstrated action alone."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from counterbc.data.feasible import Feasible
from counterbc.supports.support import Support


@dataclass(frozen=True)
class Demonstrated(Support):
    """C(s, a) = {a}: no counterfactuals."""

    count: int = 0

    def draws(self, action_size: int, feasible: Feasible) -> int:
        return 0

    def counterfactuals(
        self, action: Tensor, radius: Tensor, u: Tensor, feasible: Feasible
    ) -> Tensor:
        return action.expand(*action.shape[:-2], 0, action.shape[-1])
