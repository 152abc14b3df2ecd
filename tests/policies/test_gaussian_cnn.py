"""Policies that read images, against torch's convolutions and against themselves."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from counterbc.errors import DataError, OptionError
from counterbc.policies import GaussianCNN, GaussianCNNGRU, GaussianGRU, Params
from counterbc.policies.encoder import CONVOLUTIONS, Encoder

IMAGE = (40, 36, 3)
SIZE = 40 * 36 * 3
POLICIES = [GaussianCNN(image=IMAGE, hidden=(16,)), GaussianCNNGRU(image=IMAGE, hidden=(16, 8, 8))]
every_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda p: type(p).__name__)


def frames(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (*shape, SIZE), generator=generator, dtype=torch.uint8)


def fresh(policy: GaussianCNN | GaussianCNNGRU, seed: int) -> Params:
    params = policy.init(torch.Generator().manual_seed(seed), SIZE, 3)
    return {k: v.double() for k, v in params.items()}


def by_torch(params: Params, obs: Tensor) -> Tensor:
    """The same features by conv2d, frames (B, T, S) side by side as channels."""
    x = obs.double().unflatten(-1, IMAGE) / 255  # (B, T, H, W, C)
    x = x.permute(0, 1, 4, 2, 3).flatten(1, 2)  # (B, T · C, H, W)
    for i, (_, side, stride) in enumerate(CONVOLUTIONS):
        weight = params[f"f.conv{i}.weight"].unflatten(0, (side, side, -1)).permute(3, 2, 0, 1)
        x = functional.conv2d(x, weight, params[f"f.conv{i}.bias"], stride).relu()
    flat = x.permute(0, 2, 3, 1).flatten(1)
    features: Tensor = (flat @ params["f.layer0.weight"] + params["f.layer0.bias"]).relu()
    return features


def test_patches_times_matrices_are_convolutions_of_frames_scaled_to_one() -> None:
    encoder, obs = Encoder(IMAGE, 4, (16,)), frames(5, 4)
    params = encoder.init(torch.Generator().manual_seed(0), "f")
    params = {k: (v.double() + 0.01).requires_grad_() for k, v in params.items()}
    ours, theirs = encoder(params, obs, "f"), by_torch(params, obs)
    torch.testing.assert_close(ours, theirs)
    leaves = list(params.values())
    for a, b in zip(
        torch.autograd.grad(ours.square().sum(), leaves),
        torch.autograd.grad(theirs.square().sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


@every_policy
def test_stacked_networks_are_the_networks_alone(policy: GaussianCNN | GaussianCNNGRU) -> None:
    each, obs = [fresh(policy, s) for s in range(3)], frames(3, 5, 4)
    stacked = {k: torch.stack([e[k] for e in each]) for k in each[0]}
    together = policy.head(stacked, obs)
    for i, params in enumerate(each):
        for ours, alone in zip(together, policy.head(params, obs[i]), strict=True):
            torch.testing.assert_close(ours[i], alone)


@every_policy
def test_acting_without_gradients_gives_the_same(policy: GaussianCNN | GaussianCNNGRU) -> None:
    each, obs = [fresh(policy, s) for s in range(3)], frames(3, 5, 4)
    stacked = {k: torch.stack([e[k] for e in each]) for k in each[0]}
    for params, seen in ((stacked, obs), (each[0], obs[0])):
        with torch.no_grad():
            quick = policy.head(params, seen)
        for ours, learned in zip(quick, policy.head(params, seen), strict=True):
            torch.testing.assert_close(ours, learned)
            assert not ours.requires_grad


def test_each_frame_is_read_by_the_same_cnn_and_then_by_a_gru() -> None:
    policy, obs = GaussianCNNGRU(image=IMAGE, hidden=(16, 8, 8)), frames(5, 4)
    params = fresh(policy, 0)
    named = {k.replace("frames.", "f."): v for k, v in params.items()}
    features = torch.stack([by_torch(named, obs[:, t : t + 1]) for t in range(4)], dim=1)
    expected = GaussianGRU((8, 8), 4).head(params, features)
    for ours, theirs in zip(policy.head(params, obs), expected, strict=True):
        torch.testing.assert_close(ours, theirs)


@every_policy
def test_the_order_of_frames_matters(policy: GaussianCNN | GaussianCNNGRU) -> None:
    params, obs = fresh(policy, 0), frames(5, 4)
    mean, back = policy.head(params, obs)[0], policy.head(params, obs.flip(1))[0]
    assert (mean - back).abs().max() > 1e-3


def test_images_that_leave_nothing_after_the_convolutions_are_refused() -> None:
    with pytest.raises(DataError, match="35×96×3; the convolutions need 36×36"):
        GaussianCNN(image=(35, 96, 3))
    with pytest.raises(OptionError, match="then the GRU's units"):
        GaussianCNNGRU(hidden=(256,))
