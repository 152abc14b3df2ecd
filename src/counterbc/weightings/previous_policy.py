"""BCND: pairs count by how likely the policies of the previous round find them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from counterbc.policies.policy import Params
from counterbc.weightings.pairs import Pairs
from counterbc.weightings.weighting import Batch, StepForm, Weighting


@dataclass(frozen=True)
class PreviousPolicy(Weighting):
    """R(s, a) = π_prev(a|s): 1 in the first round, then, with the K policies of the previous round,

    R(s_i, a_i) = 1/K Σ_k  π_k(a_i|s_i) / Σ_j π_k(a_j|s_j),

    normalized over the batch as the authors' code does.
    """

    stacks: ClassVar[bool] = True
    needs_density: ClassVar[bool] = True

    def columns(self, pairs: Pairs, model: Params) -> dict[str, Tensor]:
        return {} if pairs.previous is None else {"log_pi_prev": pairs.previous}

    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        previous = batch.columns.get("log_pi_prev")  # (B, K)
        if previous is None:
            return log_pi.new_ones(()).expand_as(log_pi)
        return previous.softmax(-2).mean(-1, keepdim=True).expand_as(log_pi)

    def native_form(self, actions: int) -> StepForm | None:
        return StepForm("batch softmax", "log_pi_prev") if actions == 1 else None
