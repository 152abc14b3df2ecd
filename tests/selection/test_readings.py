"""What kernel regressions read."""

from __future__ import annotations

import numpy as np

from counterbc.selection.readings import kernel_matrices, readings, standardize


def test_whitened_a_velocity_in_two_positions_is_a_direction_of_its_own() -> None:
    rng = np.random.default_rng(0)
    position, velocity = rng.normal(size=200), 0.01 * rng.normal(size=200)
    obs = np.stack([position, position - velocity, np.full(200, 7.0)], 1)
    standardized, whitened = readings(obs)
    assert standardized.shape == whitened.shape == (200, 2)  # what is constant is not read
    np.testing.assert_allclose(np.cov(whitened.T, bias=True), np.eye(2), atol=1e-6)
    correlation = [abs(np.corrcoef(velocity, column)[0, 1]) for column in whitened.T]
    assert max(correlation) > 0.99
    assert all(abs(np.corrcoef(velocity, column)[0, 1]) < 0.3 for column in standardized.T)


def test_images_are_read_by_their_principal_components() -> None:
    rng = np.random.default_rng(0)
    brightness = rng.integers(0, 255, 60).astype(np.uint8)
    images = np.broadcast_to(brightness[:, None, None, None], (60, 8, 8, 3))
    components, whitened = readings(images)
    assert components.shape == whitened.shape == (60, 1)
    assert abs(np.corrcoef(brightness, whitened[:, 0])[0, 1]) > 0.999
    assert readings(np.zeros((60, 8, 8, 3), np.uint8))[0].shape == (60, 1)


def test_constant_observations_tell_nothing() -> None:
    (reading,) = readings(np.ones((10, 3)))
    assert not reading.any()


def test_states_are_standardized_and_constant_dimensions_are_0() -> None:
    obs = np.array([[1.0, 5.0, 1e9], [3.0, 5.0, 1e9 + 1]])  # the last changes by rounding alone
    assert standardize(obs).tolist() == [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]


def test_a_kernel_is_largest_where_inputs_are_equal() -> None:
    inputs = np.array([[1.0, 2.0], [1.0, 2.0], [-3.0, 0.5]])
    for kernel in kernel_matrices(inputs):
        np.testing.assert_allclose(kernel, kernel.T)
        np.testing.assert_allclose(np.diag(kernel), 2 + 0.05 * (inputs**2).sum(1))
        np.testing.assert_allclose(kernel[0, 1], kernel[0, 0])
        assert kernel[0, 2] < kernel[0, 0]
