"""The encoder of frames against torch's convolutions."""

from __future__ import annotations

from math import prod

import pytest
import torch

from counterbc.errors import DataError
from counterbc.policies import encoder as encoder_module
from counterbc.policies.encoder import Encoder
from tests.policies.torch_cnn import IMAGE, by_torch, frames


@pytest.mark.parametrize("image", [IMAGE, (150, 170, 1)])
def test_patches_times_matrices_are_convolutions_of_frames_scaled_to_one(
    image: tuple[int, int, int],
) -> None:
    encoder, obs = Encoder(image, 4, (16,)), frames(5, 4, size=prod(image))
    params = encoder.init(torch.Generator().manual_seed(0), "f")
    params = {k: (v.double() + 0.01).requires_grad_() for k, v in params.items()}
    encoded_frames, reference = encoder(params, obs, "f"), by_torch(params, obs, image)
    torch.testing.assert_close(encoded_frames, reference)
    leaves = list(params.values())
    for a, b in zip(
        torch.autograd.grad(encoded_frames.square().sum(), leaves),
        torch.autograd.grad(reference.square().sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


def test_images_that_leave_nothing_after_the_convolutions_are_refused() -> None:
    with pytest.raises(DataError, match="35×96×3; the convolutions need 36×36"):
        Encoder((35, 96, 3), 4, (16,))


@pytest.mark.parametrize(
    ("image", "places"),
    [
        ((84, 84, 3), 7 * 7),
        ((96, 96, 3), 8 * 8),
        ((96, 128, 3), 8 * 12),
        ((128, 128, 3), 12 * 12),
        ((240, 320, 3), 10 * 14),
        ((480, 640, 3), 10 * 14),
        ((1080, 1920, 3), 9 * 16),
    ],
)
def test_dense_layers_read_every_place_of_images_up_to_128_by_128_and_at_most_as_many_of_others(
    image: tuple[int, int, int], places: int
) -> None:
    params = Encoder(image, 4, (256,)).init(torch.Generator(), "f")
    convolutions = 8 * 8 * 12 * 32 + 32 + 4 * 4 * 32 * 64 + 64 + 3 * 3 * 64 * 64 + 64
    dense = places * 64 * 256 + 256
    assert sum(x.numel() for x in params.values()) == convolutions + dense


def test_features_of_images_of_128_by_128_are_those_without_pooling_to_the_bit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    image = (128, 128, 1)
    encoder, obs = Encoder(image, 2, (16,)), frames(3, 2, size=prod(image))
    params = encoder.init(torch.Generator().manual_seed(0), "f")
    features = encoder(params, obs, "f")
    with torch.no_grad():
        acting = encoder(params, obs, "f")
    monkeypatch.setattr(encoder_module, "pool", lambda x: x)
    assert torch.equal(encoder(params, obs, "f"), features)
    with torch.no_grad():
        assert torch.equal(encoder(params, obs, "f"), acting)
