"""Counter-BC: the actions of C(s, a) count by how likely the policy finds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from counterbc.losses import restricted_policy
from counterbc.policies.policy import Params
from counterbc.weightings.weighting import Batch, Weighting


@dataclass(frozen=True)
class PolicyLikelihood(Weighting):
    """R(s, a') = π̂_θ(a'|s), eq. M3; the gradient flows through it, as in Algorithm 1."""

    stacks: ClassVar[bool] = True

    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        return restricted_policy(log_pi)

    def closed_form(self, actions: int) -> bool:
        return True
