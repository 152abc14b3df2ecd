"""The encoder of observations with images: one encoder per camera, joined with the vector."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor

from counterbc.data.packing import unpack
from counterbc.errors import OptionError
from counterbc.policies.encoder import Encoder
from counterbc.policies.policy import Params

Image = tuple[int, int, int]


def split_image(image: tuple[int, ...]) -> tuple[Image, ...]:
    """Return H, W, C of each camera from the sizes of all of them, one after the other."""
    if not image or len(image) % 3:
        raise OptionError(
            f"image is {image}; give height, width and channels of each camera, in that order"
        )
    return tuple((image[i], image[i + 1], image[i + 2]) for i in range(0, len(image), 3))


class ReadsCameras:
    """What policies with the fields `image` and `vector` say about what they read."""

    image: tuple[int, ...]
    vector: bool

    @property
    def images(self) -> tuple[Image, ...]:
        """H, W, C of the images of each camera."""
        return split_image(self.image)

    @property
    def reads_vector(self) -> bool:
        """Whether a vector is read beside the images."""
        return self.vector


@dataclass(frozen=True)
class CameraEncoder:
    """Rows of bytes (`data/obs_rows.py`) → features of each camera, then the vector.

    The vector is standardized, so its numbers join the features as they are. A window of several
    frames has as many vectors, which are joined one after the other.
    """

    image: tuple[int, ...]
    """H, W, C of each camera, one after the other."""
    frames: int
    hidden: tuple[int, ...]
    """Units of each dense layer of a camera's encoder; those of the last are its features."""
    vector: bool = False
    """Whether a vector is read beside the images."""

    @property
    def _encoders(self) -> tuple[Encoder, ...]:
        return tuple(Encoder(x, self.frames, self.hidden) for x in split_image(self.image))

    @property
    def pixels(self) -> int:
        """The bytes of a row that are pixels."""
        return sum(map(prod, split_image(self.image)))

    def features(self, obs_size: int) -> int:
        """Return the number of features, where the vector has `obs_size` numbers."""
        numbers = self.frames * obs_size if self.vector else 0
        return len(self._encoders) * self.hidden[-1] + numbers

    @property
    def is_joint(self) -> bool:
        """Whether features come from more than one camera alone."""
        return self.vector or len(self._encoders) > 1

    def check(self) -> None:
        """Refuse images that are too small for the convolutions."""
        _ = self._encoders

    def init(self, generator: torch.Generator, name: str) -> Params:
        """Return initial parameters of one network."""
        params: Params = {}
        for encoder, camera in zip(self._encoders, self._names(name), strict=True):
            params |= encoder.init(generator, camera)
        return params

    def __call__(self, params: Params, obs: Tensor, name: str) -> Tensor:
        """Return features (B, F) of rows (B, frames, R), or (B, R) of one frame, as bytes."""
        pixels, vector = obs, None
        if self.vector:
            pixels, vector = unpack(obs, self.pixels, params[f"{name}.layer0.bias"].dtype)
        parts, end = [], 0
        for encoder, camera in zip(self._encoders, self._names(name), strict=True):
            start, end = end, end + prod(encoder.image)
            of_camera = pixels if len(self._encoders) == 1 else pixels[..., start:end]
            parts.append(encoder(params, of_camera, camera))
        if vector is not None:
            parts.append(vector if self.frames == 1 else vector.flatten(-2))
        return torch.cat(parts, -1) if len(parts) > 1 else parts[0]

    def _names(self, name: str) -> list[str]:
        """Return the name of each camera's parameters; one camera alone has no number."""
        return [name, *(f"{name}{i}" for i in range(1, len(self._encoders)))]
