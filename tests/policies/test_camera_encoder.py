"""Encoders of several cameras and a vector, against encoders of single cameras."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from counterbc.data.packing import pack
from counterbc.errors import DataError, OptionError
from counterbc.policies import FlowCNN, GaussianCNN, GaussianCNNGRU, Params, Policy
from counterbc.policies.camera_encoder import CameraEncoder, split_image
from counterbc.policies.encoder import Encoder

FIRST, SECOND = (36, 37, 3), (40, 36, 1)
PIXELS = 36 * 37 * 3 + 40 * 36
SIZE = 2
POLICIES = [
    GaussianCNN(image=(*FIRST, *SECOND), vector=True, hidden=(8,)),
    GaussianCNN(image=FIRST, vector=True, hidden=(8,), history=1),
    GaussianCNN(image=(*FIRST, *SECOND), hidden=(8,)),
    GaussianCNNGRU(image=(*FIRST, *SECOND), vector=True, hidden=(8, 4, 4)),
    FlowCNN(image=(*FIRST, *SECOND), vector=True, hidden=(8, 8), features=8, horizon=2, execute=1),
]
every_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda p: type(p).__name__)


def rows(policy: Policy, *shape: int, seed: int = 0) -> Tensor:
    """Random observations in float64, as the policy reads them."""
    generator = torch.Generator().manual_seed(seed)
    window = (*shape, policy.history) if policy.history > 1 else shape
    pixels = sum(h * w * c for h, w, c in policy.images)
    image = torch.randint(0, 256, (*window, pixels), generator=generator, dtype=torch.uint8)
    if not policy.reads_vector:
        return image
    return pack(image, torch.randn(*window, SIZE, generator=generator, dtype=torch.float64))


def fresh(policy: Policy, seed: int) -> Params:
    params = policy.init(torch.Generator().manual_seed(seed), SIZE, 2)
    return {k: v.double() for k, v in params.items()}


def test_features_are_those_of_each_camera_and_then_the_vectors_of_all_frames() -> None:
    encoder = CameraEncoder((*FIRST, *SECOND), 2, (8,), vector=True)
    params = encoder.init(torch.Generator().manual_seed(0), "f")
    generator = torch.Generator().manual_seed(1)
    image = torch.randint(0, 256, (5, 2, PIXELS), generator=generator, dtype=torch.uint8)
    vector = torch.randn(5, 2, SIZE, generator=generator)
    features = encoder(params, pack(image, vector), "f")
    assert features.shape[1] == encoder.features(SIZE) == 8 + 8 + 2 * SIZE
    first, second = image.split([36 * 37 * 3, 40 * 36], -1)
    torch.testing.assert_close(features[:, :8], Encoder(FIRST, 2, (8,))(params, first, "f"))
    torch.testing.assert_close(features[:, 8:16], Encoder(SECOND, 2, (8,))(params, second, "f1"))
    assert torch.equal(features[:, 16:], vector.flatten(1))


def test_one_camera_alone_is_the_plain_encoder() -> None:
    encoder, plain = CameraEncoder(FIRST, 2, (8,)), Encoder(FIRST, 2, (8,))
    params = encoder.init(torch.Generator().manual_seed(0), "f")
    plain_params = plain.init(torch.Generator().manual_seed(0), "f")
    assert list(params) == list(plain_params)
    obs = rows(GaussianCNN(image=FIRST, history=2), 3)
    assert torch.equal(encoder(params, obs, "f"), plain(plain_params, obs, "f"))


@every_policy
def test_stacked_networks_are_the_networks_alone(policy: Policy) -> None:
    networks, obs = [fresh(policy, s) for s in range(2)], rows(policy, 2, 3)
    stack = {k: torch.stack([e[k] for e in networks]) for k in networks[0]}
    together = policy.head(stack, obs)
    for i, params in enumerate(networks):
        for many, single in zip(together, policy.head(params, obs[i]), strict=True):
            torch.testing.assert_close(many[i], single)


@every_policy
def test_acting_without_gradients_gives_the_same(policy: Policy) -> None:
    params, obs = fresh(policy, 0), rows(policy, 3)
    with torch.no_grad():
        quick = policy.head(params, obs)
    for fast, slow in zip(quick, policy.head(params, obs), strict=True):
        torch.testing.assert_close(fast, slow)


@every_policy
def test_every_part_of_the_observation_is_read(policy: Policy) -> None:
    params, obs = fresh(policy, 0), rows(policy, 1)
    sizes = [h * w * c for h, w, c in policy.images] + ([8 * SIZE] if policy.reads_vector else [])
    before = policy.head(params, obs)[0]
    for number, part in enumerate(obs.split(sizes, -1)):
        parts = list(obs.split(sizes, -1))
        parts[number] = torch.zeros_like(part)
        assert not torch.equal(policy.head(params, torch.cat(parts, -1))[0], before)


def test_sizes_that_are_none_and_images_too_small_are_refused() -> None:
    assert split_image((*FIRST, *SECOND)) == (FIRST, SECOND)
    for image in ((), (36, 36), (36, 36, 3, 36)):
        with pytest.raises(OptionError, match="give height, width and channels of each camera"):
            split_image(image)
    with pytest.raises(DataError, match="35×36×3; the convolutions need 36×36"):
        GaussianCNN(image=(36, 36, 3, 35, 36, 3))
