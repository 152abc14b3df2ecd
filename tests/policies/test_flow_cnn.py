"""The flow that reads images, against the flow of its features."""

from __future__ import annotations

import pytest
import torch

from counterbc.errors import DataError, OptionError
from counterbc.policies import Flow, FlowCNN, Params
from tests.policies.numbers import check_stack, double, generator, normal, uniform
from tests.policies.torch_cnn import IMAGE, SIZE, by_torch, frames

D = 4
CNN = FlowCNN(hidden=(8, 8), horizon=2, execute=1, euler=3, features=16, image=IMAGE)
VECTOR = Flow(hidden=(8, 8), history=1, horizon=2, execute=1, euler=3)


def fresh(seed: int = 0) -> Params:
    return double(CNN.init(generator(seed), SIZE, D))


def test_it_is_the_flow_of_the_features_of_its_frames() -> None:
    params, obs, actions, u = fresh(), frames(3, 2), normal(3, 2, D), uniform(3, 1 + D)
    features = by_torch({k.replace("frames.", "f."): v for k, v in params.items()}, obs)
    for ours, by_hand in zip(
        CNN.errors(params, obs, actions, u),
        VECTOR.errors(params, features, actions, u),
        strict=True,
    ):
        torch.testing.assert_close(ours, by_hand)
    with torch.no_grad():
        taken = CNN.act(params, obs, u[:, 1:], False)
    torch.testing.assert_close(taken, VECTOR.act(params, features, u[:, 1:], False))


def test_stacked_networks_equal_a_loop_in_value_and_gradient() -> None:
    inputs = frames(2, 3, 2), normal(2, 3, 2, D), uniform(2, 3, 1 + D)
    check_stack([fresh(seed) for seed in range(2)], CNN.errors, *inputs)


def test_every_parameter_is_learned() -> None:
    params = {k: v.requires_grad_() for k, v in fresh().items()}
    error, _ = CNN.errors(params, frames(3, 2), normal(3, 1, D), uniform(3, 1 + D))
    for gradient in torch.autograd.grad(error.sum(), list(params.values())):
        assert gradient.abs().max() > 0


def test_its_steps_do_not_depend_on_the_number_of_pairs() -> None:
    assert (CNN.steps_for(500), CNN.steps_for(10**6)) == (15_000, 15_000)


def test_observations_are_images_and_small_ones_are_refused() -> None:
    assert CNN.obs_shape(SIZE) == CNN.one_step().obs_shape(SIZE) == CNN.images[0] == IMAGE
    with pytest.raises(DataError, match="35×96×3; the convolutions need 36×36"):
        FlowCNN(image=(35, 96, 3))
    with pytest.raises(OptionError, match="features is 0"):
        FlowCNN(features=0)
