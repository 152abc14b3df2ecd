"""What the Triton kernels share, on a GPU."""

from __future__ import annotations

import pytest

from tests.kernels import gpu_checks


@pytest.mark.gpu
def test_many_inputs_are_as_close_to_float64_as_torch_is() -> None:
    gpu_checks.many_inputs_are_as_close_to_float64_as_torch_is()
