"""The affine map between actions and the range [−1, 1]."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from counterbc.data.affine import scale, scale_exactly, unscale, unscale_exactly

LOW, HIGH = np.array([0.0, -10.0]), np.array([4.0, 10.0])
ACTIONS, SCALED = np.array([[0.0, -10.0], [4.0, 10.0], [3.0, 5.0]]), [[-1, -1], [1, 1], [0.5, 0.5]]


@pytest.mark.parametrize("forward", [scale, scale_exactly])
def test_bounds_become_minus_one_and_one(forward) -> None:  # type: ignore[no-untyped-def]  # either function
    assert forward(ACTIONS, LOW, HIGH).tolist() == SCALED


@pytest.mark.parametrize("back", [unscale, unscale_exactly])
def test_scaled_actions_become_actions_again(back) -> None:  # type: ignore[no-untyped-def]  # either function
    assert back(np.array(SCALED), LOW, HIGH).tolist() == ACTIONS.tolist()


def test_tensors_are_mapped_like_arrays() -> None:
    mapped_tensor = scale(*(torch.tensor(x) for x in (ACTIONS, LOW, HIGH)))
    assert mapped_tensor.tolist() == SCALED


def test_bounds_of_one_change_no_bit_of_the_exact_map() -> None:
    tiny = np.array([1e-9, 0.1, -0.3])
    assert scale_exactly(tiny, -1.0, 1.0).tolist() == tiny.tolist()
    assert unscale_exactly(tiny, -1.0, 1.0).tolist() == tiny.tolist()
