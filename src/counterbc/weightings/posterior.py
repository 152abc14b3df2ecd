"""The posterior: actions count by how likely they were meant, given what was demonstrated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from counterbc.losses import restricted_policy
from counterbc.policies.policy import Params
from counterbc.weightings.weighting import Batch, Weighting


@dataclass(frozen=True)
class Posterior(Weighting):
    """R(s, a') = π_θ(a'|s) p(a|a') / Σ_z π_θ(z|s) p(a|z), without gradient.

    The demonstrator means a' ~ π and shows a ~ p(a|a'). The actions of C(s, a) are drawn from the
    noise p, so its density is in how often an action is drawn, and R is π̂ of eq. M3. Eq. M1 then
    has the gradient of −log Σ_a' π_θ(a'|s), the likelihood of a.
    """

    stacks: ClassVar[bool] = True
    noise_model: ClassVar[bool] = True

    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        return restricted_policy(log_pi).detach()

    def closed_form(self, actions: int) -> bool:
        return actions == 1  # R = 1
