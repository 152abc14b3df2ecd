"""Policies that read images, against torch's convolutions and against themselves."""

from __future__ import annotations

import pytest
import torch

from counterbc.errors import DataError, OptionError
from counterbc.policies import GaussianCNN, GaussianCNNGRU, GaussianGRU, Params
from tests.policies.torch_cnn import IMAGE, SIZE, by_torch, frames

CNNS = [
    GaussianCNN(image=IMAGE, hidden=(16,)),
    GaussianCNNGRU(image=IMAGE, hidden=(16, 8, 8)),
]
every_policy = pytest.mark.parametrize("policy", CNNS, ids=lambda p: type(p).__name__)


def fresh(policy: GaussianCNN | GaussianCNNGRU, seed: int) -> Params:
    params = policy.init(torch.Generator().manual_seed(seed), SIZE, 3)
    return {k: v.double() for k, v in params.items()}


@every_policy
def test_stacked_networks_are_the_networks_alone(policy: GaussianCNN | GaussianCNNGRU) -> None:
    networks, obs = [fresh(policy, s) for s in range(3)], frames(3, 5, 4)
    stack = {k: torch.stack([e[k] for e in networks]) for k in networks[0]}
    together = policy.head(stack, obs)
    for i, params in enumerate(networks):
        for stacked_output, single_output in zip(
            together, policy.head(params, obs[i]), strict=True
        ):
            torch.testing.assert_close(stacked_output[i], single_output)


@every_policy
def test_acting_without_gradients_gives_the_same(policy: GaussianCNN | GaussianCNNGRU) -> None:
    networks, obs = [fresh(policy, s) for s in range(3)], frames(3, 5, 4)
    stack = {k: torch.stack([e[k] for e in networks]) for k in networks[0]}
    for params, input_frames in ((stack, obs), (networks[0], obs[0])):
        with torch.no_grad():
            quick = policy.head(params, input_frames)
        for fast, slow in zip(quick, policy.head(params, input_frames), strict=True):
            torch.testing.assert_close(fast, slow)
            assert not fast.requires_grad


def test_each_frame_is_read_by_the_same_cnn_and_then_by_a_gru() -> None:
    policy, obs = GaussianCNNGRU(image=IMAGE, hidden=(16, 8, 8)), frames(5, 4)
    params = fresh(policy, 0)
    encoder_params = {k.replace("frames.", "f."): v for k, v in params.items()}
    features = torch.stack([by_torch(encoder_params, obs[:, t : t + 1]) for t in range(4)], dim=1)
    expected_head = GaussianGRU((8, 8), 4).head(params, features)
    for head_part, expected_part in zip(policy.head(params, obs), expected_head, strict=True):
        torch.testing.assert_close(head_part, expected_part)


@every_policy
def test_the_order_of_frames_matters(policy: GaussianCNN | GaussianCNNGRU) -> None:
    params, obs = fresh(policy, 0), frames(5, 4)
    mean, back = policy.head(params, obs)[0], policy.head(params, obs.flip(1))[0]
    assert (mean - back).abs().max() > 1e-3


def test_images_too_small_and_a_gru_without_units_are_refused() -> None:
    with pytest.raises(DataError, match="35×96×3; the convolutions need 36×36"):
        GaussianCNN(image=(35, 96, 3))
    with pytest.raises(OptionError, match="then the GRU's units"):
        GaussianCNNGRU(hidden=(256,))
