"""Behavior cloning: all actions of C(s, a) count alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from counterbc.policies.policy import Params
from counterbc.weightings.weighting import Batch, Weighting


@dataclass(frozen=True)
class Uniform(Weighting):
    """R(s, a') = 1 / |C(s, a)|, which is 1 where C(s, a) = {a} (section 4.1)."""

    stacks: ClassVar[bool] = True

    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        return log_pi.new_full((), 1 / log_pi.shape[-1]).expand_as(log_pi)

    def closed_form(self, actions: int) -> bool:
        return actions == 1  # where C(s, a) = {a}, eq. M4 is eq. P6
