"""Policies that read images: the paper's for Car Racing, and BC-RNN's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.errors import OptionError
from counterbc.policies.camera_encoder import CameraEncoder, ReadsCameras
from counterbc.policies.gaussian import Gaussian
from counterbc.policies.gaussian_gru import GaussianGRU
from counterbc.policies.layers import dense, relu_chain
from counterbc.policies.policy import Params

_NAME, _JOINT = "frames", "joint"
LEARNING_RATE = 1e-4
"""Smaller than for vectors: pixels are never negative, so the many weights of a unit all move the
same way."""


@dataclass(frozen=True)
class GaussianCNN(ReadsCameras, Gaussian):
    """The last frames as channels → convolutions → ReLU layers → (μ, log σ).

    Frames are bytes and are scaled to [0, 1]; before the start of an episode they are black. With
    several cameras, or a vector beside them, one more ReLU layer joins their features.
    """

    learning_rate: ClassVar[float] = LEARNING_RATE
    hidden: tuple[int, ...] = (256,)
    history: int = 4
    image: tuple[int, ...] = (96, 96, 3)
    """H, W, C of one frame; of several cameras one after the other."""
    vector: bool = False
    """Whether a vector is read beside the images."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._encoder.check()

    @property
    def _encoder(self) -> CameraEncoder:
        return CameraEncoder(self.image, self.history, self.hidden, self.vector)

    def init(self, generator: torch.Generator, obs_size: int, action_size: int) -> Params:
        encoder = self._encoder
        params = encoder.init(generator, _NAME)
        if encoder.is_joint:
            params |= dense(generator, (encoder.features(obs_size), self.hidden[-1]), _JOINT)
        return params | self._init_head(generator, self.hidden[-1], action_size)

    def head(self, params: Params, obs: Tensor) -> tuple[Tensor, Tensor]:
        x = self._encoder(params, obs, _NAME)
        if self._encoder.is_joint:
            x = relu_chain(params, x, _JOINT, 1)
        return self._head(params, x)


@dataclass(frozen=True)
class GaussianCNNGRU(ReadsCameras, Gaussian):
    """Each frame → convolutions → features, and a GRU over them as in `GaussianGRU`.

    The GRU reads the features of all cameras, and the vector of each step where there is one.
    `hidden` holds the features of a frame first, then the GRU's units, then ReLU layers.
    """

    learning_rate: ClassVar[float] = LEARNING_RATE
    hidden: tuple[int, ...] = (256, 64, 64)
    history: int = 4
    image: tuple[int, ...] = (96, 96, 3)
    vector: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.hidden) < 2:
            raise OptionError(
                f"hidden is {self.hidden}; give the features of a frame, then the GRU's units"
            )
        self._encoder.check()

    @property
    def _encoder(self) -> CameraEncoder:
        return CameraEncoder(self.image, 1, self.hidden[:1], self.vector)

    @property
    def _rest(self) -> GaussianGRU:
        return GaussianGRU(self.hidden[1:], self.history, reach=self.reach)

    def init(self, generator: torch.Generator, obs_size: int, action_size: int) -> Params:
        params = self._encoder.init(generator, _NAME)
        return params | self._rest.init(generator, self._encoder.features(obs_size), action_size)

    def head(self, params: Params, obs: Tensor) -> tuple[Tensor, Tensor]:
        obs = obs.unsqueeze(-2) if self.history == 1 else obs  # a history of one has no axis
        features = self._encoder(params, obs.flatten(-3, -2), _NAME)  # (B · T, F)
        window = features.unflatten(-2, (-1, self.history))
        return self._rest.head(params, window.squeeze(-2) if self.history == 1 else window)
