"""Weighted-BC: a second network learns at which states the demonstrators are experts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.policies.camera_encoder import CameraEncoder
from counterbc.policies.layers import dense, linear, relu_chain
from counterbc.policies.policy import Params
from counterbc.weightings.weighting import Batch, StepForm, Weighting


@dataclass(frozen=True)
class StateExpertise(Weighting):
    """R(s, a) = ρ_φ(s), a network trained together with π_θ and normalized over the batch:

    ρ_φ(s_i) = exp f(s_i) / Σ_j exp f(s_j), as the authors' code does. The paper asks for "a
    normalized score"; a free ρ ∈ [0, 1] would go to 0 wherever −log π > 0.
    """

    stacks: ClassVar[bool] = True
    hidden: tuple[int, ...] = (64, 64)
    encoder: CameraEncoder | None = None
    """Reads states that are frames, in place of hidden layers."""

    def with_hidden(self, hidden: tuple[int, ...]) -> Weighting:
        return replace(self, hidden=hidden)

    def for_images(
        self, image: tuple[int, ...], history: int, hidden: tuple[int, ...], vector: bool = False
    ) -> Weighting:
        return replace(self, hidden=(), encoder=CameraEncoder(image, history, hidden, vector))

    def init(self, generator: torch.Generator, obs_size: int, operators: int = 0) -> Params:
        if self.encoder is not None:
            last = dense(generator, (self.encoder.features(obs_size), 1), "rho")
            return self.encoder.init(generator, "rho") | last
        return dense(generator, (obs_size, *self.hidden, 1), "rho")

    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        last = len(self.hidden)
        if self.encoder is None:
            x = relu_chain(params, batch.state, "rho", last)
        else:
            x = self.encoder(params, batch.obs, "rho")  # all the frames that the policy reads
        rho = linear(x, params[f"rho{last}.weight"], params[f"rho{last}.bias"])  # (B, 1)
        return rho.softmax(-2).expand_as(log_pi)

    def native_form(self, actions: int) -> StepForm | None:
        if actions > 1 or self.encoder is not None:
            return None
        return StepForm("state network", "rho", len(self.hidden) + 1)
