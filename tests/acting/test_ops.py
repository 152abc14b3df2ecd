"""Operations in numpy: the values of torch, in float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from counterbc.acting.ops import Numpy
from counterbc.policies.pooling import mean_matrix

X = np.random.default_rng(0).normal(0, 3, (5, 7)).astype(np.float32)
OPS = Numpy()
CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "relu": (OPS.relu, torch.relu),
    "sigmoid": (OPS.sigmoid, torch.sigmoid),
    "gelu": (OPS.gelu, functional.gelu),
    "layer norm": (lambda x: OPS.layer_norm(x, 7), lambda x: functional.layer_norm(x, (7,))),
    "length": (OPS.length, lambda x: x.norm(dim=-1, keepdim=True)),
    "clip": (lambda x: OPS.clip(x, -1, 2), lambda x: x.clamp(-1, 2)),
    "pick": (lambda x: OPS.pick(x, np.array([3, 0, 3])), lambda x: x[..., [3, 0, 3]]),
    "first": (lambda x: OPS.first(x, 2), lambda x: x[:, :2]),
}


@pytest.mark.parametrize("name", CASES)
def test_an_operation_gives_the_numbers_of_torch(name: str) -> None:
    by_numpy, by_torch = CASES[name]
    values = by_numpy(X.copy())
    assert values.dtype == np.float32
    assert values == pytest.approx(by_torch(torch.tensor(X)).numpy(), rel=2e-6, abs=1e-6)


def test_operations_leave_their_input_alone() -> None:
    x = X.copy()
    OPS.gelu(x)
    OPS.layer_norm(x, 7)
    assert np.array_equal(x, X)


def test_a_sigmoid_of_large_numbers_does_not_overflow() -> None:
    with np.errstate(all="raise"):
        assert OPS.sigmoid(np.array([-1e4, 1e4], np.float32)).tolist() == [0, 1]


def test_rows_of_chunks_become_steps() -> None:
    x = np.arange(12.0).reshape(2, 6)
    assert OPS.steps(x, 3).tolist() == [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]]


@pytest.mark.parametrize(("side", "stride"), [(3, 1), (4, 2)])
def test_a_convolution_gives_the_numbers_of_torch(side: int, stride: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 9, 8, 3)).astype(np.float32)
    weight = rng.normal(size=(side * side * 3, 5)).astype(np.float32)
    bias = rng.normal(size=5).astype(np.float32)
    kernel = torch.tensor(weight).reshape(side, side, 3, 5).permute(3, 2, 0, 1)
    images = torch.tensor(x).permute(0, 3, 1, 2)
    by_torch = functional.conv2d(images, kernel, torch.tensor(bias), stride).permute(0, 2, 3, 1)
    y = OPS.convolve(x, weight, bias, side, stride)
    assert y == pytest.approx(by_torch.numpy(), rel=1e-5, abs=1e-5)


def test_pooling_gives_the_means_of_torch() -> None:
    x = np.random.default_rng(0).normal(size=(2, 9, 8, 3)).astype(np.float32)
    by_torch = functional.adaptive_avg_pool2d(torch.tensor(x).movedim(-1, 1), (4, 3))
    y = OPS.pool(x, mean_matrix(9, 4).numpy(), mean_matrix(8, 3).numpy())
    assert y == pytest.approx(by_torch.movedim(1, -1).numpy(), rel=1e-5, abs=1e-6)


def test_frames_become_channels_one_after_the_other() -> None:
    x = np.arange(24, dtype=np.uint8).reshape(1, 2, 12)  # two frames of 2×3×2
    y = OPS.channels(x, 2, (2, 3, 2))
    assert (y.shape, y.dtype) == ((1, 2, 3, 4), np.float32)
    assert y[0, 0, 0].tolist() == [0, 1, 12, 13]
    assert y[0, 1, 2].tolist() == [10, 11, 22, 23]
