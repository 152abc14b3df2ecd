"""Steps of a GRU on a GPU."""

from __future__ import annotations

import pytest

from tests.kernels import gpu_checks


@pytest.mark.gpu
def test_a_gru_is_as_close_to_float64_as_torch_is() -> None:
    gpu_checks.a_gru_is_as_close_to_float64_as_torch_is()
