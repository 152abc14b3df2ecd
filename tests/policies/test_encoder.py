"""The encoder of frames against torch's convolutions."""

from __future__ import annotations

import pytest
import torch

from counterbc.errors import DataError
from counterbc.policies.encoder import Encoder
from tests.policies.torch_cnn import IMAGE, by_torch, frames


def test_patches_times_matrices_are_convolutions_of_frames_scaled_to_one() -> None:
    encoder, obs = Encoder(IMAGE, 4, (16,)), frames(5, 4)
    params = encoder.init(torch.Generator().manual_seed(0), "f")
    params = {k: (v.double() + 0.01).requires_grad_() for k, v in params.items()}
    encoded_frames, reference = encoder(params, obs, "f"), by_torch(params, obs)
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
