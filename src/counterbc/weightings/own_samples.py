"""Counter-BC by samples: the policy learns its own samples, kept within Δ of what was shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.errors import OptionError
from counterbc.policies.policy import Params, Policy
from counterbc.weightings.epsilon_insensitive import excess
from counterbc.weightings.pairs import Pairs
from counterbc.weightings.uniform import Uniform
from counterbc.weightings.weighting import EPOCH_NUMBER, SAMPLE, Batch


@dataclass(frozen=True)
class OwnSamples(Uniform):
    """R = 1 for one action, the point of C(s, a) on the way from a to the policy's own sample:

        a' ~ π_θ(·|s)        target = a + (a' − a) · min(1, Δ / ‖a' − a‖)

    for each action of a chunk by itself; θ has no gradient here. Samples inside C(s, a) follow π̂ of
    eq. M3, so the loss estimates eq. M4 without a likelihood. Samples outside become its edge.
    """

    own_samples: ClassVar[bool] = True
    warm_up: int = 20
    """Epochs in which the demonstrated actions are learned first."""
    euler: int = 4
    """Euler steps of the samples, where the policy is a flow."""

    def __post_init__(self) -> None:
        if self.warm_up < 0 or self.euler < 1:
            raise OptionError(
                f"warm_up is {self.warm_up} and euler {self.euler}; give 0 or more epochs, and 1 "
                "or more Euler steps"
            )

    def columns(self, pairs: Pairs, model: Params) -> dict[str, Tensor]:
        assert pairs.radius is not None
        shape = (*pairs.index.shape, pairs.radius.shape[-1])
        return {"radius": pairs.radius.unsqueeze(-2).expand(shape).clone()}  # (n, H · A)

    @torch.no_grad()
    def targets(self, params: Params, batch: Batch, policy: Policy) -> Tensor:
        shown = batch.actions[..., 0, :]  # (B, H · A)
        sampler = policy if policy.euler is None else policy.acting_with(euler=self.euler)
        sample = sampler.act(params, batch.obs, batch.columns[SAMPLE], sampled=True)
        offset, radius = (
            x.unflatten(-1, (policy.horizon, -1)) for x in (sample - shown, batch.columns["radius"])
        )  # (B, H, A)
        inside = (offset - excess(offset, radius)).flatten(-2)
        is_warm = (batch.columns[EPOCH_NUMBER] >= self.warm_up).unsqueeze(-1)
        target: Tensor = shown + inside * is_warm
        return target.unsqueeze(-2)  # (B, 1, H · A)
