"""Weighted-BC: a network weights the states of a batch."""

from __future__ import annotations

import torch

from counterbc.policies.camera_encoder import CameraEncoder
from counterbc.weightings import StateExpertise
from tests.weightings.batches import batch


def test_weights_of_a_batch_sum_to_one_and_favour_the_higher_score() -> None:
    weighting = StateExpertise(hidden=(2,))
    params = {
        "rho0.weight": torch.eye(2),
        "rho0.bias": torch.zeros(2),
        "rho1.weight": torch.tensor([[1.0], [0.0]]),
        "rho1.bias": torch.zeros(1),
    }
    state = torch.tensor([[0.0, 5.0], [1.0, -5.0], [-3.0, 0.0]])  # scores 0, 1 and relu(−3) = 0
    weights = weighting.weights(params, batch(state), torch.zeros(3, 1))
    target = torch.tensor([[0.0], [1.0], [0.0]]).softmax(0)
    torch.testing.assert_close(weights, target)


def test_images_are_read_by_an_encoder_with_the_layers_of_the_policy() -> None:
    weighting = StateExpertise().for_images((36, 36, 3), 2, (16,))
    assert isinstance(weighting, StateExpertise)
    assert weighting.encoder == CameraEncoder((36, 36, 3), 2, (16,))
    params = weighting.init(torch.Generator().manual_seed(0), 36 * 36 * 3)
    frames = torch.randint(0, 255, (4, 2, 36 * 36 * 3), dtype=torch.uint8)
    weights = weighting.weights(params, batch(frames), torch.zeros(4, 1))
    assert weights.shape == (4, 1)
    torch.testing.assert_close(weights.sum(), torch.tensor(1.0))
