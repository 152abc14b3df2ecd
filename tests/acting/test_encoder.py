"""The encoder of frames without torch: the features of torch's."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.encoder import FrameEncoder, split_rows
from counterbc.acting.ops import Numpy
from counterbc.policies import GaussianCNN
from counterbc.policies.encoder import Encoder

IMAGE = (40, 37, 2)


def _params(encoder: Encoder, *seeds: int) -> dict[str, Any]:
    """Parameters of one network per seed, with biases that are not 0."""
    networks = []
    for seed in seeds:
        g = torch.Generator().manual_seed(seed)
        params = encoder.init(g, "frames")
        networks.append({k: v + 0.1 * torch.rand(v.shape, generator=g) for k, v in params.items()})
    return {k: torch.stack([n[k] for n in networks]) for k in networks[0]}


@pytest.mark.parametrize("frames", [1, 3])
@pytest.mark.parametrize("hidden", [(16,), (16, 8)])
@pytest.mark.parametrize("image", [IMAGE, (150, 170, 2)])
def test_features_are_those_of_torch_in_training_and_in_acting(
    image: tuple[int, int, int], frames: int, hidden: tuple[int, ...]
) -> None:
    encoder = Encoder(image, frames, hidden)
    params = {k: v[0] for k, v in _params(encoder, 0).items()}
    obs = torch.randint(256, (5, frames, prod(image)), dtype=torch.uint8)
    rows = obs[:, 0] if frames == 1 else obs
    in_training = encoder(params, rows, "frames").numpy()
    with torch.no_grad():
        in_acting = encoder(params, rows, "frames").numpy()
    weights = {k: v.numpy() for k, v in params.items()}
    features = FrameEncoder(weights, "frames", image, frames)(Numpy(), rows.numpy())
    assert features == pytest.approx(in_training, rel=3e-5, abs=1e-5)
    assert features == pytest.approx(in_acting, rel=3e-5, abs=1e-5)
    assert (features > 0).mean() > 0.2


def test_networks_of_an_ensemble_read_the_same_frames() -> None:
    encoder = Encoder(IMAGE, 2, (8,))
    params = _params(encoder, 0, 1, 2)
    obs = torch.randint(256, (4, 2, 40 * 37 * 2), dtype=torch.uint8)
    stack = {k: (v.unsqueeze(1) if k.endswith("bias") else v).numpy() for k, v in params.items()}
    features = FrameEncoder(stack, "frames", IMAGE, 2)(Numpy(), obs.numpy())
    assert features.shape == (3, 4, 8)
    for n, of_network in enumerate(features):
        weights = {k: v[n].numpy() for k, v in params.items()}
        single = FrameEncoder(weights, "frames", IMAGE, 2)(Numpy(), obs.numpy())
        np.testing.assert_allclose(of_network, single, rtol=1e-5, atol=1e-6)
    assert not np.allclose(features[0], features[1], atol=0.01)


def test_the_caller_keeps_its_weights() -> None:
    encoder = Encoder(IMAGE, 1, (8,))
    weights = {k: v[0].numpy() for k, v in _params(encoder, 0).items()}
    before = {k: v.copy() for k, v in weights.items()}
    FrameEncoder(weights, "frames", IMAGE, 1)
    assert weights.keys() == before.keys()
    assert all((weights[k] == before[k]).all() for k in before)


def test_rows_of_bytes_are_split_into_cameras_and_numbers() -> None:
    policy = GaussianCNN(image=(36, 36, 1, 37, 36, 3), vector=True)
    rng = np.random.default_rng(0)
    first, second = (rng.integers(0, 256, (5, 2, n), np.uint8) for n in (36 * 36, 37 * 36 * 3))
    vector = rng.normal(size=(5, 2, 3)).astype(np.float32)
    rows = np.concatenate([first, second, vector.view(np.uint8)], -1)
    parts = split_rows(policy, rows)
    assert all(map(np.array_equal, parts.images, (first, second)))
    assert np.array_equal(parts.vector, vector)
    last = parts.map(lambda x: x[:, -1])
    assert np.array_equal(last.vector, vector[:, -1])
    assert split_rows(replace(policy, vector=False), rows[..., :-12]).vector is None
