"""Steps of layers, with and without a network of weights, on a GPU."""

from __future__ import annotations

import pytest

from tests.kernels import gpu_checks


@pytest.mark.gpu
def test_layers_are_as_close_to_float64_as_torch_is() -> None:
    gpu_checks.layers_are_as_close_to_float64_as_torch_is()


@pytest.mark.gpu
def test_networks_of_weights_are_as_close_to_float64_as_torch_is() -> None:
    gpu_checks.networks_of_weights_are_as_close_to_float64_as_torch_is()
