"""Mean pooling of feature maps."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from counterbc.policies.pooling import mean_matrix, pool, pooled_size


@pytest.mark.parametrize(
    ("size", "smaller_size"),
    [
        ((1, 1), (1, 1)),
        ((12, 12), (12, 12)),
        ((9, 16), (9, 16)),
        ((13, 13), (12, 12)),
        ((26, 36), (10, 14)),
        ((56, 76), (10, 14)),
        ((1, 1000), (1, 144)),
        ((3, 71), (2, 71)),
        ((71, 3), (58, 2)),
        ((200, 1), (144, 1)),
        ((300, 2), (144, 1)),
    ],
)
def test_maps_of_more_than_144_places_are_made_smaller(
    size: tuple[int, int], smaller_size: tuple[int, int]
) -> None:
    assert pooled_size(*size) == smaller_size


def test_every_size_stays_within_the_map_and_the_bound() -> None:
    for height in (*range(1, 90, 3), 145, 1000):
        for width in (*range(1, 90), 145, 1000):
            rows, columns = pooled_size(height, width)
            assert 1 <= rows <= height
            assert 1 <= columns <= width
            assert rows * columns <= 144


def test_five_numbers_are_averaged_in_two_windows_that_share_the_middle() -> None:
    windows = torch.tensor([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]])
    torch.testing.assert_close(mean_matrix(5, 2), windows / 3)


def test_a_small_map_is_returned_as_it_is() -> None:
    x = torch.rand(2, 12, 12, 3)
    assert pool(x) is x


@pytest.mark.parametrize("size", [(56, 76), (13, 14), (1, 200)])
def test_means_and_their_gradients_are_those_of_torchs_adaptive_pooling(
    size: tuple[int, int],
) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(3, 2, *size, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    flat = x.flatten(0, 1).movedim(-1, 1)
    reference = functional.adaptive_avg_pool2d(flat, pooled_size(*size))
    reference = reference.movedim(1, -1).unflatten(0, (3, 2))
    means = pool(x)
    torch.testing.assert_close(means, reference)
    (gradient,), (reference_gradient,) = (
        torch.autograd.grad(y.square().sum(), [x]) for y in (means, reference)
    )
    torch.testing.assert_close(gradient, reference_gradient)


def test_matrices_lie_on_the_device_of_the_map() -> None:
    x = torch.empty(2, 56, 76, 4, device="meta")
    assert (pool(x).shape, pool(x).device.type) == ((2, 10, 14, 4), "meta")
