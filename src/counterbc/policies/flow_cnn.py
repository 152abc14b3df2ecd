"""The flow policy that reads images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.errors import OptionError
from counterbc.policies.encoder import Encoder
from counterbc.policies.flow import Flow
from counterbc.policies.gaussian_cnn import LEARNING_RATE, GaussianCNN
from counterbc.policies.policy import Params, Policy

_NAME = "frames"


@dataclass(frozen=True)
class FlowCNN(Flow):
    """The last frames as channels → convolutions → features, read as the state of a `Flow`.

    Frames are bytes and are scaled to [0, 1]; the first one of an episode is repeated before it.
    """

    learning_rate: ClassVar[float] = LEARNING_RATE
    steps_by_pairs: ClassVar[tuple[tuple[int, int], ...]] = ()
    features: int = 256
    """Units of the ReLU layer after the convolutions."""
    image: tuple[int, int, int] = (96, 96, 3)
    """H, W, C of one frame."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features < 1:
            raise OptionError(f"features is {self.features}; give 1 or more")
        _ = self._encoder  # refuses images that are too small

    @property
    def _encoder(self) -> Encoder:
        return Encoder(self.image, self.history, (self.features,))

    def one_step(self) -> Policy:
        return GaussianCNN(image=self.image)

    def obs_shape(self, size: int) -> tuple[int, ...]:
        return self.image

    def init(self, generator: torch.Generator, obs_size: int, action_size: int) -> Params:
        params = self._encoder.init(generator, _NAME)
        return params | self._init_layers(generator, self.features, action_size)

    def state(self, params: Params, obs: Tensor) -> Tensor:
        return self._encoder(params, obs, _NAME)
