"""The flow policy that reads images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.errors import OptionError
from counterbc.policies.camera_encoder import CameraEncoder, ReadsCameras
from counterbc.policies.flow import Flow
from counterbc.policies.gaussian_cnn import LEARNING_RATE, GaussianCNN
from counterbc.policies.policy import Params, Policy

_NAME = "frames"


@dataclass(frozen=True)
class FlowCNN(ReadsCameras, Flow):
    """The last frames as channels → convolutions → features, read as the state of a `Flow`.

    The features of all cameras, and a vector where there is one, are joined to that state. Frames
    are bytes and are scaled to [0, 1]; the first one of an episode is repeated before it.
    """

    learning_rate: ClassVar[float] = LEARNING_RATE
    steps_by_pairs: ClassVar[tuple[tuple[int, int], ...]] = ()
    features: int = 256
    """Units of the ReLU layer after the convolutions."""
    image: tuple[int, ...] = (96, 96, 3)
    """H, W, C of one frame; of several cameras one after the other."""
    vector: bool = False
    """Whether a vector is read beside the images."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features < 1:
            raise OptionError(f"features is {self.features}; give 1 or more")
        self._encoder.check()

    @property
    def _encoder(self) -> CameraEncoder:
        return CameraEncoder(self.image, self.history, (self.features,), self.vector)

    def one_step(self) -> Policy:
        return GaussianCNN(image=self.image, vector=self.vector)

    def init(self, generator: torch.Generator, obs_size: int, action_size: int) -> Params:
        params = self._encoder.init(generator, _NAME)
        return params | self._init_layers(generator, self._encoder.features(obs_size), action_size)

    def state(self, params: Params, obs: Tensor) -> Tensor:
        return self._encoder(params, obs, _NAME)
