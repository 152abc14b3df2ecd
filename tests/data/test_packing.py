"""Rows of bytes: what is packed comes out again."""

from __future__ import annotations

import pytest
import torch

from counterbc.data.packing import pack, unpack


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("pixels", [8, 13])
def test_pixels_and_numbers_come_out_as_they_were_packed(dtype: torch.dtype, pixels: int) -> None:
    generator = torch.Generator().manual_seed(0)
    image = torch.randint(0, 256, (1, 1, pixels), dtype=torch.uint8, generator=generator)
    vector = torch.randn(1, 1, 3, dtype=dtype, generator=generator)
    rows = pack(image, vector)
    assert (rows.dtype, rows.shape[-1]) == (torch.uint8, pixels + 3 * vector.element_size())
    same_image, same_vector = unpack(rows, pixels, dtype)
    assert torch.equal(same_image, image)
    assert torch.equal(same_vector, vector)


def test_a_row_of_zeros_is_black_and_a_vector_of_zeros() -> None:
    image, vector = unpack(torch.zeros(2, 3 + 8, dtype=torch.uint8), 3, torch.float32)
    assert not image.any()
    assert vector.tolist() == [[0.0, 0.0]] * 2
